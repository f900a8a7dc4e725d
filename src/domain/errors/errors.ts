import { CALL_ERRORS } from './call-errors.ts';
import type { ErrorEntry } from './error-entry.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Executed, Outcome, OutcomeKind } from '../outcome/outcome.ts';
import { PLANE_ERRORS } from './plane-errors.ts';

/** One table of all error codes; `docs/errors.md` is generated from it. */
export const ERRORS = { ...CALL_ERRORS, ...PLANE_ERRORS };
export type CallErrorCode = keyof typeof CALL_ERRORS;
export type PlaneErrorCode = keyof typeof PLANE_ERRORS;

type FactsOf<Code extends keyof typeof ERRORS> = Parameters<(typeof ERRORS)[Code]['say']>[0] extends undefined
  ? Record<never, never>
  : NonNullable<Parameters<(typeof ERRORS)[Code]['say']>[0]>;

/** Builds the message. A fact may be a whole sentence, so its full stop and that of the message are reduced to one. */
function messageOf({ say }: ErrorEntry<JsonObject>, facts: JsonObject): string {
  return say(facts).replaceAll(/(?<=[\p{L}\p{N})"'’”])\.\.(?=\s|$)/gu, '.');
}

/** Puts the facts that a fix names into it. */
function fixOf(fix: string, facts: JsonObject): string {
  return fix.replaceAll(/<(\w+)>/g, (placeholder, name: string) => {
    const fact = facts[name];
    return typeof fact === 'string' ? fact : placeholder;
  });
}

/** An error of the plane itself. A call that fails ends with an outcome, not with an exception. */
export class PlaneError extends Error {
  override readonly name = 'PlaneError';
  readonly code: PlaneErrorCode;
  readonly facts: JsonObject;
  readonly fix: string | undefined;

  constructor(code: PlaneErrorCode, facts: JsonObject, cause?: unknown) {
    const found = PLANE_ERRORS[code] as ErrorEntry<JsonObject>;
    super(messageOf(found, facts), cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = facts;
    this.fix = found.fix;
  }
}

export function planeError<Code extends PlaneErrorCode>(code: Code, facts: FactsOf<Code>, cause?: unknown): PlaneError {
  return new PlaneError(code, facts as JsonObject, cause);
}

/** Builds an outcome that is not `ok` from the error table. */
export function errorOutcome<Code extends CallErrorCode>(
  code: Code,
  facts: FactsOf<Code>,
  more: { executed?: Executed; retryable?: boolean } & Partial<
    Pick<Outcome, 'content' | 'structured' | 'writeBacks'>
  > = {},
): Outcome {
  const found = CALL_ERRORS[code] as ErrorEntry<JsonObject>;
  const message = messageOf(found, facts as JsonObject);
  const { executed = 'no', retryable = found.retry === 'same-call' || found.retry === 'after-a-while', ...rest } = more;
  return {
    kind: found.kind as OutcomeKind,
    executed,
    retryable,
    content: [{ kind: 'text', text: message }],
    ...rest,
    error: {
      code,
      message,
      ...(found.fix === undefined ? {} : { fix: fixOf(found.fix, facts as JsonObject) }),
      facts: facts as JsonObject,
    },
  };
}

/** The message of an error; any other thrown value as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
