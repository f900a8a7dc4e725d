import { classifyThrown } from '../../domain/classify-thrown.ts';
import type { Fault } from '../../domain/error-category.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import { withAdvice, type Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import type { Trace } from '../../domain/trace-context.ts';
import { whenHere } from '../when-here.ts';
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
  outcomeOfPlain,
  outcomeOfResult,
  outcomeOfThrown,
  type ResultJudge,
} from './outcome-of.ts';
import {
  readResult,
  reviewReturned,
  reviewThrown,
  stoppedCall,
  unreadable,
  type CheckOutput,
  type Reviewed,
  type ReviewedCall,
} from './review-result.ts';
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
  readonly checkOutput: CheckOutput;
}

/** What to throw. In an object: a tool may throw anything, a promise or a proxy too. */
export interface Thrown {
  readonly error: unknown;
}

/**
 * Ends a passage once: the first ending counts, and observers hear of it exactly once. Both give back what the caller gets; of an error,
 * that is the very value that the tool threw, unless a result hook replaced or withheld it. With result hooks the answer may be a promise,
 * and `returned` throws or rejects for a result that is withheld.
 */
export interface Finish {
  /** Result hooks are for the tool: nothing is given on before they have answered. */
  readonly reviews: boolean;
  returned(value: unknown): unknown;
  threw(error: unknown): Soon<Thrown>;
  /** The caller stopped reading. */
  left(): void;
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
  if (remember(() => refusal.outcome, passage, needs) !== undefined)
    tellObservers(refusal.outcome, verdict, passage, needs);
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
  const { call, advise, checkOutput } = passage;
  const { advice } = verdict;
  const enteredAt = performance.now();
  const reviews = needs.hooks.listens('tool_result', call.tool);
  tellStarted(call, verdict, needs);
  let ended = false;
  /** What the tool itself did, for loop detection and events. Observers are told later where hooks are asked first. */
  const end = (outcome: () => Outcome, faultOf: (known: Outcome) => Fault | undefined, value?: unknown): void => {
    if (ended) return;
    ended = true;
    entered.isOver = true;
    const known = remember(outcome, passage, needs, value);
    if (known === undefined) return;
    if (!reviews) tellObservers(known, verdict, passage, needs);
    tellEnded(call, known, faultOf(known), enteredAt, needs);
  };
  const thrownOutcome = (error: unknown): Outcome =>
    outcomeOfThrown(error, call.tool.id, call.signal?.aborted === true, needs.judge);
  const endThrown = (error: unknown): void =>
    end(
      () => thrownOutcome(error),
      () => classifyThrown(error),
    );
  const returnedOutcome = (value: unknown): Outcome =>
    returnsErrors && isErrorText(value) ? outcomeOfErrorText(value) : outcomeOfResult(value, needs.judge);
  const endReturned = (value: unknown): void => {
    if (returnsErrors && isErrorText(value) && entered.thrown !== undefined) endThrown(entered.thrown.error);
    else end(() => returnedOutcome(value), faultOfResult, value);
  };
  return {
    reviews,
    returned(value) {
      if (!reviews) {
        endReturned(value);
        return adviseSafely(value);
      }
      const read = readResult(value);
      const readable = 'value' in read ? read.value : undefined;
      endReturned('problem' in read ? value : readable);
      const reviewed = reviewedCall();
      const reviewing =
        'problem' in read
          ? unreadable(read.problem, reviewed)
          : reviewReturned(readable, wholeOutcome(readable), reviewed, needs);
      return whenHere(reviewing, giveOn);
    },
    threw(error) {
      // Withheld by a hook: that was told already.
      if (ended && reviews) return { error };
      endThrown(error);
      if (!reviews) {
        adviseBeside(error, advice);
        return { error };
      }
      const own = thrownOutcome(error);
      const reviewed = reviewedCall();
      const isStopped = own.kind === 'cancelled';
      const reviewing = isStopped ? stoppedCall(reviewed, own.executed) : reviewThrown(error, own, reviewed, needs);
      return whenHere(reviewing, (known) => {
        tellObservers(known.outcome, verdict, passage, needs);
        const thrown = known.kind === 'threw' ? known.error : error;
        if (!(thrown instanceof GateBlocked)) adviseBeside(thrown, advice);
        return { error: thrown };
      });
    },
    left() {
      if (ended) return;
      const error = new Error('nobody reads on');
      endThrown(error);
      if (reviews) tellObservers(thrownOutcome(error), verdict, passage, needs);
    },
  };

  function reviewedCall(): ReviewedCall {
    return { call, judged: verdict, advice, durationMs: performance.now() - enteredAt, checkOutput };
  }

  /** Of any length: hooks are there to shorten, too. */
  function wholeOutcome(value: JsonValue | undefined): Outcome {
    if (returnsErrors && isErrorText(value))
      return { ...outcomeOfErrorText(value), content: [{ kind: 'text', text: value }] };
    return outcomeOfPlain(value, needs.judge);
  }

  function giveOn(reviewed: Reviewed): unknown {
    tellObservers(reviewed.outcome, verdict, passage, needs);
    if (reviewed.kind === 'returned') return adviseSafely(reviewed.value);
    // A framework ends the whole run of an agent for an error that it gets here.
    if (returnsErrors && reviewed.error instanceof GateBlocked) return reviewed.error.message;
    throw reviewed.error;
  }

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

/** Keeps for loop detection how the tool ended. Undefined: that failed, which never changes the result. */
function remember(
  outcomeOf: () => Outcome,
  { call, open }: Passage,
  { log, loops }: PassageNeeds,
  value?: unknown,
): Outcome | undefined {
  try {
    const outcome = outcomeOf();
    open.end(endedAttempt(outcome, call.tool, isReadable(value, outcome), loops));
    return outcome;
  } catch (error) {
    log.error({ stage: 'settle', tool: call.tool.id, callId: call.callId, error }, 'an outcome was not recorded');
    return undefined;
  }
}

function tellObservers(
  ending: Outcome,
  judged: JudgedCall & { readonly advice?: string },
  { call, startedAt }: Passage,
  { hooks, log }: PassageNeeds,
): void {
  const { canonical: _canonical, signal: _signal, parameters: _parameters, spans: _spans, ...facts } = call;
  const outcome = withAdvice(ending, judged.advice);
  try {
    const durationMs = performance.now() - startedAt;
    hooks.after({ ...facts, arguments: judged.arguments, changedBy: judged.changedBy, outcome, durationMs });
  } catch (error) {
    log.error({ stage: 'settle', tool: call.tool.id, callId: call.callId, error }, 'an outcome was not recorded');
  }
}
