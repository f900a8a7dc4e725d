import { trouble } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import { addToError, type Advise } from './add-advice.ts';
import { endedAttempt } from './end-attempt.ts';
import { GateBlocked, type Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { CallVerdict, JudgedCall } from './judge-call.ts';
import { isReadable, outcomeOfResult, outcomeOfThrown, type ResultJudge } from './outcome-of.ts';
import type { OpenAttempt, RunMemory } from './run-memory.ts';
import { tellBlocked, tellEnded, tellStarted } from './tell-event.ts';

/** Whose calls they are. */
export interface RunFrame {
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  readonly memory: RunMemory;
}

export interface PassageNeeds extends GateParts {
  readonly frame: RunFrame;
  readonly judge: ResultJudge;
}

/** One call on its way through the gate and back. */
export interface Passage {
  readonly call: GatedCall;
  readonly open: OpenAttempt;
  readonly startedAt: number;
  readonly advise: Advise;
}

/** Ends a passage once: the first ending counts, and observers hear of it exactly once. Both give back what the caller gets. */
export interface Finish {
  returned(value: unknown): unknown;
  threw(error: unknown): unknown;
}

/** What to throw for a call that may not run. */
export function refuse(
  verdict: Exclude<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
): unknown {
  const { call } = passage;
  const refusal: Refusal = verdict.kind === 'refused' ? verdict.refusal : { outcome: trouble('CALL_CANCELLED', {}) };
  tellBlocked(call, refusal, needs);
  tell(() => refusal.outcome, verdict, passage, needs);
  const reason: unknown = call.signal?.reason;
  // Whoever stopped the call knows its own error best.
  if (refusal.outcome.kind === 'cancelled' && reason instanceof Error) return reason;
  return new GateBlocked(refusal, { tool: call.tool.id, callId: call.callId });
}

export function createFinish(
  verdict: Extract<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
): Finish {
  const { call, advise } = passage;
  const { advice } = verdict;
  const enteredAt = performance.now();
  tellStarted(call, verdict.canonical, needs);
  let ended = false;
  const end = (outcome: () => Outcome, value?: unknown): void => {
    if (ended) return;
    ended = true;
    const known = tell(outcome, verdict, passage, needs, value);
    if (known !== undefined) tellEnded(call, known, enteredAt, needs);
  };
  return {
    returned(value) {
      end(() => outcomeOfResult(value, needs.judge), value);
      return advise(value, advice);
    },
    threw(error) {
      end(() => outcomeOfThrown(error, call.tool.id, call.signal?.aborted === true, needs.judge));
      return advice === undefined ? error : addToError(error, advice);
    },
  };
}

function tell(
  outcomeOf: () => Outcome,
  judged: JudgedCall,
  { call, open, startedAt }: Passage,
  { hooks, log }: PassageNeeds,
  value?: unknown,
): Outcome | undefined {
  const { canonical: _canonical, signal: _signal, ...facts } = call;
  try {
    const outcome = outcomeOf();
    open.end(endedAttempt(outcome, call.tool, isReadable(value, outcome)));
    const durationMs = performance.now() - startedAt;
    hooks.after({ ...facts, arguments: judged.arguments, changedBy: judged.changedBy, outcome, durationMs });
    return outcome;
  } catch (error) {
    // A failure to record an outcome never changes the result.
    log.error({ stage: 'settle', tool: call.tool.id, callId: call.callId, error }, 'an outcome was not recorded');
    return undefined;
  }
}
