import { faultOfStatus, statusOf } from '../../domain/outcome/classify-thrown.ts';
import type { Fault } from '../../domain/outcome/error-category.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { startOf } from '../../base/cut-text.ts';

/** Decides whether returned data reports a failure, and what a tool's own error means. */
export interface ResultJudge {
  returned(value: JsonValue): { readonly kind: 'ok' | 'failed' | 'denied'; readonly message?: string };
  /** Undefined: not an error that a tool would throw on purpose. */
  thrown(
    error: unknown,
  ): { readonly how: 'failed' | 'denied'; readonly message: string; readonly code?: string } | undefined;
}

const MAX_ERROR_CHARACTERS = 1024 * 1024;
/** Max characters of a value as JSON, because reading the value makes a copy of it. A text is read without a copy, whatever its length. */
const MAX_COPIED_CHARACTERS = 64 * 1024 * 1024;
const MAX_MESSAGE = 2000;

/**
 * Whether a result can be compared with earlier ones. A result that JSON cannot express, or that is too large, has no content to compare.
 */
export function isReadable(value: unknown, { structured, content }: Outcome): boolean {
  return value === undefined || structured !== undefined || content.length > 0;
}

/** The outcome of a returned value, for observers and loop detection. The caller gets the value itself. */
export function outcomeOfResult(value: unknown, judge: ResultJudge): Outcome {
  return outcomeOfPlain(toPlain(value), judge);
}

/** The outcome of a returned value that is already JSON. Undefined: the tool returned nothing, or a value that JSON cannot express. */
export function outcomeOfPlain(plain: JsonValue | undefined, judge: ResultJudge): Outcome {
  const ok: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
  if (plain === undefined) return ok;
  const judged = judge.returned(plain);
  const shown =
    typeof plain === 'string'
      ? { content: [{ kind: 'text', text: plain } as const] }
      : { content: [], structured: plain };
  if (judged.kind === 'ok') return { ...ok, ...shown };
  const code = judged.kind === 'failed' ? 'TOOL_FAILED' : 'TOOL_DENIED';
  return errorOutcome(code, { message: judged.message ?? '' }, { executed: 'yes', ...shown });
}

export function outcomeOfThrown(error: unknown, tool: string, aborted: boolean, judge: ResultJudge): Outcome {
  if (aborted) return errorOutcome('CALL_CANCELLED', {}, { executed: 'unknown' });
  const said = judge.thrown(error);
  if (said === undefined) return errorOutcome('TOOL_THREW', { tool, type: typeName(error) }, { executed: 'yes' });
  const facts = said.code === undefined ? { message: said.message } : { message: said.message, code: said.code };
  return errorOutcome(said.how === 'failed' ? 'TOOL_FAILED' : 'TOOL_DENIED', facts, { executed: 'yes' });
}

/** What the OpenAI Agents SDK gives the model in place of an error, unless the tool sets another text. */
const ERROR_TEXT = 'An error occurred while running the tool.';

export function isErrorText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(ERROR_TEXT);
}

export function outcomeOfErrorText(text: string): Outcome {
  const content = [{ kind: 'text', text: startOf(text, MAX_ERROR_CHARACTERS) } as const];
  return errorOutcome('TOOL_FAILED', { message: startOf(text, MAX_MESSAGE) }, { executed: 'yes', content });
}

/** The fault of a returned failure, from the HTTP status in its data, as on a worker. */
export function faultOfResult({ error, structured }: Outcome): Fault | undefined {
  const isReported = error?.code === 'TOOL_FAILED' || error?.code === 'TOOL_DENIED';
  return isReported && structured !== undefined && isJsonObject(structured)
    ? faultOfStatus(statusOf(structured))
    : undefined;
}

/** The value as JSON. Undefined if JSON cannot express it or if it is too large; the caller still gets the value itself. */
function toPlain(value: unknown): JsonValue | undefined {
  if (typeof value === 'string') return value;
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined || text.length > MAX_COPIED_CHARACTERS ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function typeName(error: unknown): string {
  try {
    const name: unknown = error instanceof Error ? error.name : typeof error;
    return typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : 'Error';
  } catch {
    return 'Error';
  }
}
