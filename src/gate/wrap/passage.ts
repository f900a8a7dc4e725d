import { classifyThrown } from '../../domain/outcome/classify-thrown.ts';
import type { Fault } from '../../domain/outcome/error-category.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { withAdvice, type Outcome } from '../../domain/outcome/outcome.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import type { Trace } from '../../domain/call/trace-context.ts';
import { storeAdvice, type Advise } from './add-advice.ts';
import { endedAttempt } from './end-attempt.ts';
import { GateBlocked, type Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { CallVerdict, JudgedCall } from './judge-call.ts';
import type { StartedCall } from './nested-call.ts';
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
import { emitBlocked, emitEnded, emitStarted } from './emit-event.ts';

/** The run, session and identity that a wrapped tool's calls belong to. */
export interface RunFrame {
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  readonly memory: RunMemory;
  /** The host's span that the next call is part of. Never throws. */
  readonly trace: () => Trace | undefined;
}

export interface PassageNeeds extends GateParts {
  /** Identifies the gate in all of its runs. */
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

/** What to throw. It is wrapped in an object because a tool may throw anything, even a promise or a proxy. */
export interface Thrown {
  readonly error: unknown;
}

/**
 * Ends a passage once: the first ending counts, and observers get it exactly once. `returned` and `threw` return what the caller gets. For
 * an error that is the same value that the tool threw, unless a result hook replaced or withheld it. With result hooks the answer may be a
 * promise, and `returned` throws or rejects if the result is withheld.
 */
export interface Finish {
  /** The tool has result hooks: nothing is passed on before they have answered. */
  readonly reviews: boolean;
  returned(value: unknown): unknown;
  threw(error: unknown): MaybePromise<Thrown>;
  /** The caller stopped reading the updates. */
  left(): void;
}

/** Records a refused call, and returns what to throw for it. */
export function refuse(
  verdict: Exclude<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
): unknown {
  const { call } = passage;
  const refusal: Refusal =
    verdict.kind === 'refused' ? verdict.refusal : { outcome: errorOutcome('CALL_CANCELLED', {}) };
  emitBlocked(call, refusal, needs);
  if (remember(() => refusal.outcome, passage, needs) !== undefined)
    notifyObservers(refusal.outcome, verdict, passage, needs);
  const reason: unknown = call.signal?.reason;
  // If the code that stopped the call gave its own error, that one is thrown.
  if (refusal.outcome.kind === 'cancelled' && reason instanceof Error) return reason;
  return new GateBlocked(refusal, { tool: call.tool.id, callId: call.callId });
}

export function createFinish(
  verdict: Extract<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
  { startedCall, returnsErrors }: { readonly startedCall: StartedCall; readonly returnsErrors: boolean },
): Finish {
  const { call, advise, checkOutput } = passage;
  const { advice } = verdict;
  const startedAt = performance.now();
  const reviews = needs.hooks.listens('tool_result', call.tool);
  emitStarted(call, verdict, needs);
  let ended = false;
  /**
   * Records what the tool itself did, for loop detection and events. If there are result hooks, observers are notified later, after the
   * hooks.
   */
  const end = (outcome: () => Outcome, faultOf: (known: Outcome) => Fault | undefined, value?: unknown): void => {
    if (ended) return;
    ended = true;
    startedCall.isOver = true;
    const known = remember(outcome, passage, needs, value);
    if (known === undefined) return;
    if (!reviews) notifyObservers(known, verdict, passage, needs);
    emitEnded(call, known, faultOf(known), startedAt, needs);
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
    if (returnsErrors && isErrorText(value) && startedCall.thrown !== undefined) endThrown(startedCall.thrown.error);
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
      return andThen(reviewing, giveOn);
    },
    threw(error) {
      // A result hook withheld the result and `returned` threw the error for it. That was already reported.
      if (ended && reviews) return { error };
      endThrown(error);
      if (!reviews) {
        storeAdvice(error, advice);
        return { error };
      }
      const own = thrownOutcome(error);
      const reviewed = reviewedCall();
      const isStopped = own.kind === 'cancelled';
      const reviewing = isStopped ? stoppedCall(reviewed, own.executed) : reviewThrown(error, own, reviewed, needs);
      return andThen(reviewing, (known) => {
        notifyObservers(known.outcome, verdict, passage, needs);
        const thrown = known.kind === 'threw' ? known.error : error;
        if (!(thrown instanceof GateBlocked)) storeAdvice(thrown, advice);
        return { error: thrown };
      });
    },
    left() {
      if (ended) return;
      const error = new Error('nobody reads on');
      endThrown(error);
      if (reviews) notifyObservers(thrownOutcome(error), verdict, passage, needs);
    },
  };

  function reviewedCall(): ReviewedCall {
    return { call, judged: verdict, advice, durationMs: performance.now() - startedAt, checkOutput };
  }

  /** The outcome with its full text, not shortened: a hook may exist to shorten it. */
  function wholeOutcome(value: JsonValue | undefined): Outcome {
    if (returnsErrors && isErrorText(value))
      return { ...outcomeOfErrorText(value), content: [{ kind: 'text', text: value }] };
    return outcomeOfPlain(value, needs.judge);
  }

  function giveOn(reviewed: Reviewed): unknown {
    notifyObservers(reviewed.outcome, verdict, passage, needs);
    if (reviewed.kind === 'returned') return adviseSafely(reviewed.value);
    // Here a framework would end the agent's whole run if the function threw, so the message is returned.
    if (returnsErrors && reviewed.error instanceof GateBlocked) return reviewed.error.message;
    throw reviewed.error;
  }

  function adviseSafely(value: unknown): unknown {
    try {
      return advise(value, advice);
    } catch (error) {
      // If adding the advice fails, the caller still gets the tool's result, without the advice.
      needs.log.error({ stage: 'gate', tool: call.tool.id, callId: call.callId, error }, 'advice was not given');
      return value;
    }
  }
}

/** Records for loop detection how the tool ended. Undefined: recording failed, which never changes the result. */
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

function notifyObservers(
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
