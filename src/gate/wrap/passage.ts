import { trouble } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import { GateBlocked, refusalOutcome, type Refusal } from './gate-blocked.ts';
import type { CallVerdict, GatedCall, GateParts, JudgedCall } from './judge-call.ts';
import { outcomeOfResult, outcomeOfThrown, type ResultJudge } from './outcome-of.ts';
import type { OpenAttempt, RunMemory } from './run-memory.ts';

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
  /** What the model is told beside a result, put where it will read it. */
  readonly addAdvice: (result: unknown, advice: string) => unknown;
}

/** One call on its way through the gate and back. */
export interface Passage {
  readonly call: GatedCall;
  readonly open: OpenAttempt | undefined;
  readonly startedAt: number;
  /** Somebody wants to know how it ends. */
  readonly observed: boolean;
}

/** Ends a passage once: the first ending counts, and observers hear of it exactly once. */
export interface Finish {
  returned(value: unknown): unknown;
  threw(error: unknown): void;
}

/** What to throw for a call that may not run. */
export function refuse(
  verdict: Exclude<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
): unknown {
  const { call } = passage;
  const refusal = verdict.kind === 'refused' ? verdict.refusal : cancelled();
  tell(() => refusalOutcome(refusal), verdict, passage, needs);
  const reason: unknown = call.signal?.reason;
  // Whoever stopped the call knows its own error best.
  if (refusal.kind === 'cancelled' && reason instanceof Error) return reason;
  return new GateBlocked(refusal, { tool: call.tool.id, callId: call.callId });
}

function cancelled(): Refusal {
  const { code, message } = trouble('CALL_CANCELLED', {}).error!;
  return { code, kind: 'cancelled', reason: message };
}

export function createFinish(
  verdict: Extract<CallVerdict, { kind: 'allowed' }>,
  passage: Passage,
  needs: PassageNeeds,
): Finish {
  const { call } = passage;
  let ended = false;
  const end = (outcome: () => Outcome): void => {
    if (ended) return;
    ended = true;
    tell(outcome, verdict, passage, needs);
  };
  return {
    returned(value) {
      end(() => outcomeOfResult(value, needs.judge));
      return verdict.advice === undefined ? value : needs.addAdvice(value, verdict.advice);
    },
    threw(error) {
      end(() => outcomeOfThrown(error, call.tool.id, call.signal?.aborted === true, needs.judge));
    },
  };
}

function tell(
  outcomeOf: () => Outcome,
  judged: JudgedCall,
  passage: Passage,
  { loops, hooks, log }: PassageNeeds,
): void {
  const { call, open, startedAt, observed } = passage;
  if (!observed) return;
  const { canonical: _canonical, signal: _signal, ...facts } = call;
  try {
    const outcome = outcomeOf();
    if (loops !== undefined) open?.end(loops.endOf(outcome, call.tool), loops.costOf?.(outcome, call.tool) ?? 0);
    const durationMs = performance.now() - startedAt;
    hooks.after({ ...facts, arguments: judged.arguments, changedBy: judged.changedBy, outcome, durationMs });
  } catch (error) {
    // A failure to record an outcome never changes the result.
    log.error({ tool: call.tool.id, callId: call.callId, error }, 'an outcome was not recorded');
  }
}
