import { LIMITS } from '../../domain/call/call.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { isInputKind, type GivenInput, type InputKind } from '../../domain/call/input.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { checkArguments } from '../../domain/call/check-arguments.ts';
import { readInputState } from '../../domain/call/read-input.ts';

export interface WrittenInput {
  readonly kind: 'written';
  /** Canonical JSON of responses and state; absent when there are none. */
  readonly text?: string;
  readonly kinds?: readonly InputKind[];
}

/** Checks the input of a caller, which may be any value, and encodes it. The rules for JSON values are the same as for arguments. */
export function writeInput(input: GivenInput): WrittenInput | { readonly kind: 'refused'; readonly outcome: Outcome } {
  if (!isJsonObject(input)) return invalid('input is not an object');
  const { responses, state, kinds } = input as GivenInput;
  if (kinds !== undefined && !(Array.isArray(kinds) && kinds.every(isInputKind)))
    return invalid('input.kinds has something that is no kind of input');
  if (responses !== undefined && !isJsonObject(responses)) return invalid('input.responses is not an object');
  if (state !== undefined && typeof state !== 'string') return invalid('input.state is not a text');
  if (state !== undefined && readInputState(state) === undefined)
    return invalid('input.state is not a state that an outcome gave');
  const named = kinds === undefined ? {} : { kinds: [...kinds] };
  if (responses === undefined && state === undefined) return { kind: 'written', ...named };
  const checked = checkArguments({ responses, state });
  if (!checked.ok && checked.code === 'ENVELOPE_INVALID') return invalid(`input: ${checked.facts.problem}`);
  const bytes = checked.ok ? Buffer.byteLength(checked.canonical) : checked.facts.is;
  if (!checked.ok || bytes > LIMITS.inputBytes) {
    const what = checked.ok ? 'bytes' : checked.facts.what;
    const limit = checked.ok ? LIMITS.inputBytes : checked.facts.limit;
    return {
      kind: 'refused',
      outcome: errorOutcome('ARGUMENTS_TOO_LARGE', { what: `${what} of input`, is: bytes, limit }),
    };
  }
  return { kind: 'written', text: checked.canonical, ...named };
}

function invalid(problem: string): { readonly kind: 'refused'; readonly outcome: Outcome } {
  return { kind: 'refused', outcome: errorOutcome('ENVELOPE_INVALID', { problem }) };
}
