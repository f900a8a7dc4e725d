import { PlaneError, trouble } from '../../domain/errors.ts';
import { releasesKey, type Outcome } from '../../domain/outcome.ts';
import type { SettleAnswer, SettleRequest } from '../../ports/call-store.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';
import { encodeOutcome } from '../../wire/outcome.ts';
import { encodeAudit, type SettlementFacts } from './encode-audit.ts';
import { keepOffers } from './keep-offers.ts';

export type { SettlementFacts } from './encode-audit.ts';

export interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: SettleAnswer;
  readonly durationMs: number;
}

type Needs = Pick<Plane, 'store' | 'settings' | 'log'>;

const TRY_AGAIN_MS = 250;

/** An outcome that is known must not be thrown away because the store has a bad moment: the call is ours until somebody fences it. */
export async function settle(
  delivered: DeliveredCall,
  outcome: Outcome,
  facts: SettlementFacts,
  needs: Needs,
): Promise<SettledCall> {
  const durationMs = Math.round(performance.now() - delivered.arrivedAt);
  const offers = outcome.writeBacks?.injectedTools.length ?? 0;
  const kept = offers === 0 ? outcome : await keepOffers(delivered, outcome, needs);
  const { encoded, sent } = encodeSafely(delivered, honest(delivered, kept, facts));
  const request = settleRequest(delivered, encoded, sent, encodeAudit(sent, facts, durationMs), needs);
  for (;;) {
    try {
      const answer = await needs.store.settleCall(request);
      return { delivered, outcome: sent, answer, durationMs };
    } catch (error) {
      const isOver = delivered.signal.aborted && delivered.signal.reason !== 'cancelled';
      if (isOver || !(error instanceof PlaneError) || !PASSING_TROUBLE.includes(error.code)) throw error;
      needs.log.warn({ stage: 'settle', callId: request.callId, error }, 'not settled yet; trying again');
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

function settleRequest(
  { delivery }: DeliveredCall,
  encoded: Uint8Array,
  sent: Outcome,
  audit: Uint8Array,
  needs: Needs,
): SettleRequest {
  return {
    callId: delivery.callId,
    pool: delivery.pool,
    workerId: delivery.workerId,
    entryId: delivery.entryId,
    fence: delivery.fence,
    outcome: encoded,
    releaseKey: releasesKey(sent.kind),
    audit,
    retentionMs: needs.settings.retentionMs,
  };
}

/**
 * A call that was somebody's before may have run there without a start mark, as `read` and `idempotent` tools do. Only of an unsafe
 * tool without a mark is it known that it did not.
 */
function honest(delivered: DeliveredCall, outcome: Outcome, { effect }: SettlementFacts): Outcome {
  const { recovered, handedBack, fence } = delivered.delivery;
  if (recovered === undefined || outcome.executed !== 'no') return outcome;
  // All owners so far did not serve it and handed it back in identify, so nobody has begun it.
  if (handedBack === fence - 1) return outcome;
  if (effect === 'unsafe' && recovered.starts === 0) return outcome;
  return { ...outcome, executed: 'unknown' };
}

const PASSING_TROUBLE: readonly string[] = ['STORE_UNAVAILABLE', 'STORE_FULL', 'STORE_FAILED'];

/** Whatever a tool handed over, the call gets its one answer: an outcome that cannot be written becomes one that says so. */
function encodeSafely(delivered: DeliveredCall, outcome: Outcome): { encoded: Uint8Array; sent: Outcome } {
  try {
    return { encoded: encodeOutcome(outcome), sent: outcome };
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'it cannot be encoded';
    const sent = trouble('RESULT_UNSERIALISABLE', { tool: delivered.delivery.tool, problem }, { executed: 'yes' });
    return { encoded: encodeOutcome(sent), sent };
  }
}
