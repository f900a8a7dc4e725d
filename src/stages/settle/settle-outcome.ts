import { pause } from '../../base/pause.ts';
import { PlaneError, errorOutcome } from '../../domain/errors/errors.ts';
import { releasesKey, withAdvice, type Outcome } from '../../domain/outcome/outcome.ts';
import { mayHaveRun } from '../../gate/may-have-run.ts';
import type { SettleRequest } from '../../domain/ports/call-requests.ts';
import { traceIdIn } from '../../domain/call/trace-context.ts';
import type { DeliveredCall, Plane } from '../../domain/ports/plane.ts';
import type { SettledCall } from '../../domain/ports/staged-calls.ts';
import type { RepeatedMask } from '../../domain/ports/redactor.ts';
import { encodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { attemptOf } from './attempt-of.ts';
import { encodeAudit, type SettlementFacts } from './encode-audit.ts';
import { keepOffers } from './keep-offers.ts';
import { maskError } from './mask-error.ts';
import { readSent } from './sent-call.ts';

type Needs = Pick<Plane, 'store' | 'settings' | 'log' | 'redactor' | 'tools'>;

const TRY_AGAIN_MS = 250;

/** Rounds to whole milliseconds, and below 1 ms to steps of ten microseconds, so that no duration is recorded as zero. @internal */
export function roundDuration(ms: number): number {
  return ms >= 1 ? Math.round(ms) : Math.max(1, Math.round(ms * 100)) / 100;
}

/**
 * Settles a call. A known outcome must not be lost because the store is briefly unavailable. So transient store errors are retried until
 * this worker loses the call or has to stop.
 */
export async function settleOutcome(
  delivered: DeliveredCall,
  outcome: Outcome,
  facts: SettlementFacts,
  needs: Needs,
): Promise<SettledCall> {
  const { delivery } = delivered;
  const durationMs = roundDuration(performance.now() - delivered.arrivedAt);
  const offers = outcome.writeBacks?.injectedTools.length ?? 0;
  const kept = offers === 0 ? outcome : await keepOffers(delivered, outcome, needs);
  const audited = facts.sent === undefined ? { ...facts, ...readSent(delivery, needs) } : facts;
  const shown = kept.error === undefined ? kept : maskError(kept, repeatedIn(audited, needs));
  const { encoded, sent } = encodeSafely(
    delivered,
    withAdvice(withExecutedUnknown(delivered, shown, facts), facts.gate?.advice),
  );
  const request: SettleRequest = {
    callId: delivery.callId,
    pool: delivery.pool,
    workerId: delivery.workerId,
    entryId: delivery.entryId,
    fence: delivery.fence,
    outcome: encoded,
    releaseKey: releasesKey(sent.kind),
    audit: encodeAudit(sent, audited, durationMs, needs.redactor),
    retentionMs: needs.settings.retentionMs,
    // Uses the tool's own result, not what hooks made of it: a redaction that changes each time must not hide a loop.
    attempt: attemptOf(delivered, facts.reviewed?.own ?? kept, facts),
  };
  for (;;) {
    try {
      const answer = await needs.store.settleCall(request);
      if (sent.kind !== 'ok' && answer === 'settled') logFailure(delivered, sent, durationMs, audited, needs);
      return { delivered, outcome: sent, answer, durationMs };
    } catch (error) {
      const isOver = delivered.signal.aborted && delivered.signal.reason !== 'cancelled';
      if (isOver || !(error instanceof PlaneError) || !TRANSIENT_ERRORS.includes(error.code)) throw error;
      needs.log.warn({ stage: 'settle', callId: request.callId, error }, 'not settled yet; trying again');
      await pause(TRY_AGAIN_MS);
    }
  }
}

/** Makes the mask for an error of this call. It masks secrets in the arguments that were sent and in those that ran. */
function repeatedIn({ tool, sent, arguments: ran }: SettlementFacts, { redactor }: Needs): RepeatedMask | undefined {
  if (tool === undefined || sent === undefined) return undefined;
  return redactor?.repeated?.(tool, ran === undefined ? [sent.arguments] : [sent.arguments, ran]);
}

/** Logs every outcome that is not ok, so that operators need not search the audit for it. Facts only, no text from a tool. */
function logFailure(
  { delivery, events }: DeliveredCall,
  outcome: Outcome,
  durationMs: number,
  facts: SettlementFacts,
  { log }: Needs,
): void {
  const { callId, tool, session } = delivery;
  const { kind, executed, error } = outcome;
  const call = {
    stage: 'settle',
    callId,
    tool,
    session,
    ...traceIdIn(events?.traceOf('settle')?.traceparent ?? facts.sent?.trace),
  };
  log.warn({ ...call, outcome: kind, code: error?.code, executed, durationMs }, NOT_OK);
}

const NOT_OK = 'a call did not end ok';

/** Never reports that a call did not run if an earlier worker may have run it. */
function withExecutedUnknown({ delivery }: DeliveredCall, outcome: Outcome, { effect }: SettlementFacts): Outcome {
  if (outcome.executed !== 'no' || !mayHaveRun(delivery, effect)) return outcome;
  return { ...outcome, executed: 'unknown' };
}

const TRANSIENT_ERRORS: readonly string[] = ['STORE_UNAVAILABLE', 'STORE_FULL', 'STORE_FAILED'];

/**
 * Encodes the outcome. If it cannot be encoded, the call ends with the error RESULT_UNSERIALISABLE instead, so that its waiters get an
 * answer.
 */
function encodeSafely(delivered: DeliveredCall, outcome: Outcome): { encoded: Uint8Array; sent: Outcome } {
  try {
    return { encoded: encodeOutcome(outcome), sent: outcome };
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'it cannot be encoded';
    const sent = errorOutcome('RESULT_UNSERIALISABLE', { tool: delivered.delivery.tool, problem }, { executed: 'yes' });
    return { encoded: encodeOutcome(sent), sent };
  }
}
