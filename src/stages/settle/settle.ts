import { PlaneError, trouble } from '../../domain/errors.ts';
import { releasesKey, type Outcome } from '../../domain/outcome.ts';
import type { Effect } from '../../domain/tool.ts';
import type { SettleAnswer, SettleRequest } from '../../ports/call-store.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';
import { encode } from '../../wire/message-pack.ts';
import { encodeOutcome } from '../../wire/outcome.ts';

export interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: SettleAnswer;
  readonly durationMs: number;
}

/** What the audit keeps of a settled call beside what the store adds. Never argument values. */
export interface SettlementFacts {
  readonly toolDigest?: string;
  readonly policyVersion?: number;
  readonly permission?: string;
  readonly effect?: Effect;
}

type Needs = Pick<Plane, 'store' | 'settings' | 'log'>;

export async function settle(
  delivered: DeliveredCall,
  outcome: Outcome,
  facts: SettlementFacts,
  needs: Needs,
): Promise<SettledCall> {
  const durationMs = Math.round(performance.now() - delivered.arrivedAt);
  const { encoded, sent } = encodeSafely(delivered, honest(delivered, outcome, facts));
  const { callId, pool, workerId, entryId, fence } = delivered.delivery;
  const answer = await settlePatiently(delivered, needs, {
    callId,
    pool,
    workerId,
    entryId,
    fence,
    outcome: encoded,
    releaseKey: releasesKey(sent.kind),
    audit: encode({
      outcome: sent.kind,
      executed: sent.executed,
      code: sent.error?.code ?? null,
      durationMs,
      toolDigest: facts.toolDigest ?? null,
      policyVersion: facts.policyVersion ?? null,
      permission: facts.permission ?? null,
    }),
    retentionMs: needs.settings.retentionMs,
  });
  return { delivered, outcome: sent, answer, durationMs };
}

/**
 * A call that was somebody's before may have run there without a start mark, as `read` and `idempotent` tools do. Only of an unsafe
 * tool without a mark is it known that it did not.
 */
function honest(delivered: DeliveredCall, outcome: Outcome, { effect }: SettlementFacts): Outcome {
  const { recovered, handedBack, fence } = delivered.delivery;
  if (recovered === undefined || outcome.executed !== 'no') return outcome;
  // Its first and only owner so far did not serve it and handed it back in identify, so nobody has begun it.
  if (handedBack && fence === 2) return outcome;
  if (effect === 'unsafe' && recovered.starts === 0) return outcome;
  return { ...outcome, executed: 'unknown' };
}

const TRY_AGAIN_MS = 250;

/** An outcome that is known must not be thrown away because the store has a bad moment: the call is ours until somebody fences it. */
async function settlePatiently(delivered: DeliveredCall, needs: Needs, request: SettleRequest): Promise<SettleAnswer> {
  for (;;) {
    try {
      return await needs.store.settleCall(request);
    } catch (error) {
      const isOver = delivered.signal.aborted && delivered.signal.reason !== 'cancelled';
      if (isOver || !(error instanceof PlaneError) || !PASSING_TROUBLE.includes(error.code)) throw error;
      needs.log.warn({ stage: 'settle', callId: request.callId, error }, 'not settled yet; trying again');
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
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
