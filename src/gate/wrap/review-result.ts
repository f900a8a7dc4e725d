import { trouble } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import { withAdvice, type Outcome } from '../../domain/outcome.ts';
import type { Soon } from '../../domain/soon.ts';
import { copyPlain } from '../../wire/plain-json.ts';
import { whenHere } from '../when-here.ts';
import { GateBlocked } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { JudgedCall } from './judge-call.ts';

/** Problems of a replaced result: it must match the tool's output schema, if it has one. */
export type CheckOutput = (value: JsonValue) => Soon<readonly string[]>;

/** What the caller gets, and what observers are told. */
export type Reviewed =
  | { readonly kind: 'returned'; readonly value: unknown; readonly outcome: Outcome }
  | { readonly kind: 'threw'; readonly error: unknown; readonly outcome: Outcome };

export interface ReviewedCall {
  readonly call: GatedCall;
  readonly judged: JudgedCall;
  /** The advice of loop detection, for the error that takes the place of a withheld result. */
  readonly advice: string | undefined;
  readonly durationMs: number;
  readonly checkOutput: CheckOutput;
}

type Needs = Pick<GateParts, 'hooks'>;

/** The copy that hooks see and the caller gets, or why there is none. */
export function readResult(value: unknown): { readonly value: JsonValue | undefined } | { readonly problem: string } {
  if (value === undefined) return { value };
  try {
    return { value: copyPlain(value) };
  } catch {
    return { problem: 'hooks check it, so it must be JSON' };
  }
}

/** Asks the result hooks about what a tool returned. Never throws or rejects. */
export function reviewReturned(
  value: JsonValue | undefined,
  own: Outcome,
  reviewed: ReviewedCall,
  needs: Needs,
): Soon<Reviewed> {
  return review(own, reviewed, needs, {
    kept: { kind: 'returned', value, outcome: own },
    replaced: (outcome) => ({ kind: 'returned', value: valueOf(outcome), outcome }),
  });
}

/** The same for what it threw. The hooks see its message as the text of the content, or the JSON of a value that is no error. */
export function reviewThrown(error: unknown, own: Outcome, reviewed: ReviewedCall, needs: Needs): Soon<Reviewed> {
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

/** What a stopped call throws: nothing that the tool said. */
export function stoppedCall({ call }: ReviewedCall, executed: Outcome['executed']): Reviewed {
  const outcome = trouble('CALL_CANCELLED', {}, { executed });
  const reason: unknown = call.signal?.reason;
  return { kind: 'threw', error: reason instanceof Error ? reason : blocked(outcome, { call }), outcome };
}

/** A result that no hook can be shown is withheld, as a worker refuses it. */
export function unreadable(problem: string, reviewed: ReviewedCall): Reviewed {
  const { call } = reviewed;
  const outcome = trouble('RESULT_UNSERIALISABLE', { tool: call.tool.id, problem }, { executed: 'yes' });
  return { kind: 'threw', error: blocked(outcome, reviewed), outcome };
}

interface Endings {
  readonly kept: Reviewed;
  readonly replaced: (outcome: Outcome) => Reviewed;
}

function review(shown: Outcome, reviewed: ReviewedCall, { hooks }: Needs, endings: Endings): Soon<Reviewed> {
  const { call, judged, durationMs, checkOutput } = reviewed;
  const { canonical: _canonical, parameters: _parameters, spans: _spans, ...facts } = call;
  const ended = { ...facts, arguments: judged.arguments, changedBy: judged.changedBy, outcome: shown, durationMs };
  const checks = {
    scrub: <Value>(value: Value): Value => value,
    findProblem: (outcome: Outcome) => findProblem(outcome, checkOutput),
  };
  return whenHere(hooks.result(ended, checks), (verdict): Reviewed => {
    switch (verdict.kind) {
      case 'kept':
        return verdict.isAnswered === true ? endings.replaced(shown) : endings.kept;
      case 'replaced':
        return endings.replaced(verdict.outcome);
      case 'aborted':
        return stoppedCall(reviewed, shown.executed);
      case 'withheld': {
        const { hook } = verdict;
        const outcome = trouble('HOOK_RESULT_WITHHELD', { tool: call.tool.id, hook }, { executed: shown.executed });
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

/** A function returns one value: the structured one, or text. */
function findProblem(outcome: Outcome, checkOutput: CheckOutput): Soon<string | undefined> {
  const { content, structured, kind } = outcome;
  if (content.some((block) => block.kind !== 'text')) return 'the content may hold texts only';
  if (kind !== 'ok' && structured === undefined) return undefined;
  if (content.length > 0 && structured !== undefined) return 'it has both content and structured';
  if (kind !== 'ok') return undefined;
  return whenHere(checkOutput(valueOf(outcome)), (problems) =>
    problems.length === 0 ? undefined : 'it does not match the output schema',
  );
}

function valueOf({ content, structured }: Outcome): JsonValue {
  if (structured !== undefined) return structured;
  return content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
}

/** Undefined for a value that no hook could be shown. */
function textOf(thrown: unknown): string | undefined {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown;
    const text = typeof said === 'string' ? said : JSON.stringify(copyPlain(said ?? null));
    // Through bytes, because half of a surrogate pair is no text.
    return Buffer.from(text).toString('utf8');
  } catch {
    return undefined;
  }
}
