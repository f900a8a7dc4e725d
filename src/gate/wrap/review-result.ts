import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { withAdvice, type Outcome } from '../../domain/outcome/outcome.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import { copyPlain } from '../../base/plain-json.ts';
import { GateBlocked } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { JudgedCall } from './judge-call.ts';

/** Returns the problems of a replaced result: it must match the tool's output schema, if there is one. */
export type CheckOutput = (value: JsonValue) => MaybePromise<readonly string[]>;

/** What the caller gets, and the outcome for observers. */
export type Reviewed =
  | { readonly kind: 'returned'; readonly value: unknown; readonly outcome: Outcome }
  | { readonly kind: 'threw'; readonly error: unknown; readonly outcome: Outcome };

export interface ReviewedCall {
  readonly call: GatedCall;
  readonly judged: JudgedCall;
  /** The advice of loop detection, for the error that replaces a withheld result. */
  readonly advice: string | undefined;
  readonly durationMs: number;
  readonly checkOutput: CheckOutput;
}

type Needs = Pick<GateParts, 'hooks'>;

/** The copy that hooks see and the caller gets, or why no copy can be made. */
export function readResult(value: unknown): { readonly value: JsonValue | undefined } | { readonly problem: string } {
  if (value === undefined) return { value };
  try {
    return { value: copyPlain(value) };
  } catch {
    return { problem: 'hooks check it, so it must be JSON' };
  }
}

/** Calls the result hooks with the value that a tool returned. Never throws or rejects. */
export function reviewReturned(
  value: JsonValue | undefined,
  own: Outcome,
  reviewed: ReviewedCall,
  needs: Needs,
): MaybePromise<Reviewed> {
  return review(own, reviewed, needs, {
    kept: { kind: 'returned', value, outcome: own },
    replaced: (outcome) => ({ kind: 'returned', value: valueOf(outcome), outcome }),
  });
}

/**
 * Calls the result hooks with the value that a tool threw. Hooks see it as one text: the message of an error, or the JSON of any other
 * value.
 */
export function reviewThrown(
  error: unknown,
  own: Outcome,
  reviewed: ReviewedCall,
  needs: Needs,
): MaybePromise<Reviewed> {
  const text = textOf(error);
  if (text === undefined) return unreadable('hooks check it, so what is thrown must be an error or JSON', reviewed);
  const shown: Outcome = {
    ...own,
    content: [{ kind: 'text', text }],
    error: { ...own.error!, message: text },
  };
  return review(shown, reviewed, needs, {
    kept: { kind: 'threw', error, outcome: own },
    replaced: (outcome) => ({ kind: 'threw', error: new Error(outcome.error!.message), outcome }),
  });
}

/** What a stopped call throws. It contains nothing that the tool returned or threw. */
export function stoppedCall({ call }: ReviewedCall, executed: Outcome['executed']): Reviewed {
  const outcome = errorOutcome('CALL_CANCELLED', {}, { executed });
  const reason: unknown = call.signal?.reason;
  return { kind: 'threw', error: reason instanceof Error ? reason : blocked(outcome, { call }), outcome };
}

/** Withholds a result that cannot be shown to hooks, with the same error as on a worker. */
export function unreadable(problem: string, reviewed: ReviewedCall): Reviewed {
  const { call } = reviewed;
  const outcome = errorOutcome('RESULT_UNSERIALISABLE', { tool: call.tool.id, problem }, { executed: 'yes' });
  return { kind: 'threw', error: blocked(outcome, reviewed), outcome };
}

interface Endings {
  readonly kept: Reviewed;
  readonly replaced: (outcome: Outcome) => Reviewed;
}

function review(shown: Outcome, reviewed: ReviewedCall, { hooks }: Needs, endings: Endings): MaybePromise<Reviewed> {
  const { call, judged, durationMs, checkOutput } = reviewed;
  const { canonical: _canonical, parameters: _parameters, spans: _spans, ...facts } = call;
  const ended = { ...facts, arguments: judged.arguments, changedBy: judged.changedBy, outcome: shown, durationMs };
  const checks = {
    scrub: <Value>(value: Value): Value => value,
    findProblem: (outcome: Outcome) => findProblem(outcome, checkOutput),
  };
  return andThen(hooks.result(ended, checks), (verdict): Reviewed => {
    switch (verdict.kind) {
      case 'kept':
        return verdict.isAnswered === true ? endings.replaced(shown) : endings.kept;
      case 'replaced':
        return endings.replaced(verdict.outcome);
      case 'aborted':
        return stoppedCall(reviewed, shown.executed);
      case 'withheld': {
        const { hook } = verdict;
        const outcome = errorOutcome(
          'HOOK_RESULT_WITHHELD',
          { tool: call.tool.id, hook },
          { executed: shown.executed },
        );
        return { kind: 'threw', error: blocked(outcome, reviewed, hook), outcome };
      }
    }
  });
}

function blocked(
  outcome: Outcome,
  { call: { tool, callId }, advice }: { readonly call: GatedCall; readonly advice?: string | undefined },
  by?: string,
): GateBlocked {
  const refusal = { outcome: withAdvice(outcome, advice), ...(by === undefined ? {} : { by }) };
  return new GateBlocked(refusal, { tool: tool.id, callId });
}

/** Why a replaced result cannot be used. A function returns one value, so the hook may give either a structured value or text, not both. */
function findProblem(outcome: Outcome, checkOutput: CheckOutput): MaybePromise<string | undefined> {
  const { content, structured, kind } = outcome;
  if (content.some((block) => block.kind !== 'text')) return 'the content may hold texts only';
  if (kind !== 'ok' && structured === undefined) return undefined;
  if (content.length > 0 && structured !== undefined) return 'it has both content and structured';
  if (kind !== 'ok') return undefined;
  return andThen(checkOutput(valueOf(outcome)), (problems) =>
    problems.length === 0 ? undefined : 'it does not match the output schema',
  );
}

function valueOf({ content, structured }: Outcome): JsonValue {
  if (structured !== undefined) return structured;
  return content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
}

/** The text that hooks see of a thrown value. Undefined if no hook could be shown the value. */
function textOf(thrown: unknown): string | undefined {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown;
    const text = typeof said === 'string' ? said : JSON.stringify(copyPlain(said ?? null));
    // Converting to bytes and back replaces a lone half of a surrogate pair, which is not valid text.
    return Buffer.from(text).toString('utf8');
  } catch {
    return undefined;
  }
}
