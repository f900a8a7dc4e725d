import { classifyThrown } from '../../domain/classify-thrown.ts';
import type { Fault } from '../../domain/error-category.ts';
import { trouble } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import type { Trace } from '../../domain/trace-context.ts';
import { adviseBeside, type Advise } from './add-advice.ts';
import { endedAttempt } from './end-attempt.ts';
import { GateBlocked, type Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { CallVerdict, JudgedCall } from './judge-call.ts';
import type { EnteredCall } from './nested-call.ts';
import {
  faultOfResult,
  isErrorText,
  isReadable,
  outcomeOfErrorText,
  outcomeOfResult,
  outcomeOfThrown,
  type ResultJudge,
} from './outcome-of.ts';
import type { OpenAttempt, RunMemory } from './run-memory.ts';
import { tellBlocked, tellEnded, tellStarted } from './tell-event.ts';

/** Whose calls they are. */
export interface RunFrame {
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  readonly memory: RunMemory;
  /** The span of the host that the next call is a part of. Never throws. */
  readonly trace: () => Trace | undefined;
}

export interface PassageNeeds extends GateParts {
  /** Stands for the gate, whatever the run. */
  readonly gate: object;
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

/**
 * Ends a passage once: the first ending counts, and observers hear of it exactly once. Both give back what the caller gets; of an error,
 * that is the very value that the tool threw.
 */
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
  { entered, returnsErrors }: { readonly entered: EnteredCall; readonly returnsErrors: boolean },
): Finish {
  const { call, advise } = passage;
  const { advice } = verdict;
  const enteredAt = performance.now();
  tellStarted(call, verdict, needs);
  let ended = false;
  const end = (outcome: () => Outcome, faultOf: (known: Outcome) => Fault | undefined, value?: unknown): void => {
    if (ended) return;
    ended = true;
    entered.isOver = true;
    const known = tell(outcome, verdict, passage, needs, value);
    if (known !== undefined) tellEnded(call, known, faultOf(known), enteredAt, needs);
  };
  const endThrown = (error: unknown): void => {
    const isAborted = call.signal?.aborted === true;
    end(
      () => outcomeOfThrown(error, call.tool.id, isAborted, needs.judge),
      () => classifyThrown(error),
    );
  };
  return {
    returned(value) {
      const isError = returnsErrors && isErrorText(value);
      if (isError && entered.thrown !== undefined) endThrown(entered.thrown.error);
      else if (isError) end(() => outcomeOfErrorText(value), faultOfResult, value);
      else end(() => outcomeOfResult(value, needs.judge), faultOfResult, value);
      return adviseSafely(value);
    },
    threw(error) {
      endThrown(error);
      adviseBeside(error, advice);
      return error;
    },
  };

  function adviseSafely(value: unknown): unknown {
    try {
      return advise(value, advice);
    } catch (error) {
      // The result of a tool that ran is worth more than advice about it.
      needs.log.error({ stage: 'gate', tool: call.tool.id, callId: call.callId, error }, 'advice was not given');
      return value;
    }
  }
}

function tell(
  outcomeOf: () => Outcome,
  judged: JudgedCall,
  { call, open, startedAt }: Passage,
  { hooks, log }: PassageNeeds,
  value?: unknown,
): Outcome | undefined {
  const { canonical: _canonical, signal: _signal, parameters: _parameters, spans: _spans, ...facts } = call;
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
