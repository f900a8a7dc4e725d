import { trouble } from '../../domain/errors.ts';
import { releasesKey, type Outcome } from '../../domain/outcome.ts';
import type { SettleAnswer } from '../../ports/call-store.ts';
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
}

type Needs = Pick<Plane, 'store' | 'settings' | 'workerId'>;

export async function settle(
  delivered: DeliveredCall,
  outcome: Outcome,
  facts: SettlementFacts,
  needs: Needs,
): Promise<SettledCall> {
  const durationMs = Math.round(performance.now() - delivered.arrivedAt);
  const { encoded, sent } = encodeSafely(delivered, outcome);
  const { callId, pool, workerId, entryId, fence } = delivered.delivery;
  const answer = await needs.store.settleCall({
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
