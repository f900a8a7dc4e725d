import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { ToolResult } from '../../domain/ports/tool-runner.ts';
import { startOf } from '../../base/cut-text.ts';
import { RE2JS } from 're2js';
import { BoundedCache } from '../../base/bounded-cache.ts';

export type Judgement =
  | { readonly kind: 'ok' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string };

const OK: Judgement = { kind: 'ok' };
const NO_MESSAGE = { failed: 'The tool reported a failure.', denied: 'The tool refused.' };
const MAX_PARSED = 256 * 1024;
const MAX_MESSAGE = 2000;
/** Fields in which wrappers put the inner result. Other fields are the tool's own data. */
const WRAPPERS = ['result', 'data', 'response', 'output', 'details', 'structuredContent'];
const EXIT_CODES = ['exitCode', 'exit_code'];

/**
 * Whether a cleanly returned result reports failure or denial. Decided from structure, in this order:
 * - `success` or `ok`: false, 0 or "false" is a failure; true, 1 or "true" means success: exit code, error and status of the same object do
 *   not count then;
 * - `isError` or `is_error`: true, 1 or "true" is a failure, also next to a success;
 * - `exitCode` or `exit_code`: a whole number other than 0, also as text, is a failure;
 * - `error`: anything but null, false, 0, "" or empty is a failure;
 * - `status`: a word of the closed lists below;
 * - then the same fields one level deeper, inside `result`, `data`, `response`, `output`, `details` or `structuredContent`. If the outer
 *   object says success, only an inner `success`, `ok`, `isError` or `is_error` counts, because a fetched record may have its own error or
 *   status.
 * Text that matches a pattern declared by the tool is a denial. Other text that is a JSON object is parsed and judged as above. In the
 * remaining text only a leading `Error:` counts, as a failure. Words in free text are never judged.
 */
export function judgeResult(result: ToolResult, denials: readonly string[]): Judgement {
  const { value, content } = result;
  if (result.reportsFailure === true) return { kind: 'failed', message: describeFailure(content) };
  if (value !== undefined) return judgeValue(value, denials);
  if (content === undefined) return OK;
  const [only] = content;
  return content.length === 1 && only?.kind === 'text' ? judgeText(only.text, denials) : OK;
}

function describeFailure(content: ToolResult['content']): string {
  const text = content?.find((block) => block.kind === 'text')?.text ?? '';
  return text.trim() === '' ? NO_MESSAGE.failed : cut(text);
}

function judgeValue(value: JsonValue, denials: readonly string[]): Judgement {
  if (typeof value === 'string') return judgeText(value, denials);
  return isJsonObject(value) ? judgeObject(value) : OK;
}

function judgeText(text: string, denials: readonly string[]): Judgement {
  if (matchesDenial(text, denials)) return { kind: 'denied', message: cut(text) };
  const parsed = parseObject(text);
  if (parsed !== undefined) return judgeObject(parsed);
  return text.startsWith('Error:') ? { kind: 'failed', message: cut(text) } : OK;
}

function judgeObject(object: JsonObject): Judgement {
  const own = judgeLevel(object, false);
  if (own.kind !== 'ok') return own;
  const trusted = flagOf(object) === true;
  for (const name of WRAPPERS) {
    const inner = object[name];
    const nested = typeof inner === 'string' ? parseObject(inner) : inner;
    const judged = nested !== undefined && isJsonObject(nested) ? judgeLevel(nested, trusted) : OK;
    if (judged.kind !== 'ok') return judged;
  }
  return OK;
}

function judgeLevel(object: JsonObject, onlyFlags: boolean): Judgement {
  const flag = flagOf(object);
  const status = typeof object['status'] === 'string' ? normalise(object['status']) : '';
  if (flag === false) return report(object, DENIAL_STATUSES.includes(status));
  if (flag === true || onlyFlags) return OK;
  if (exitCodeOf(object) !== undefined) return report(object, DENIAL_STATUSES.includes(status));
  if (isPresent(object['error'])) return report(object, DENIAL_STATUSES.includes(status));
  if (DENIAL_STATUSES.includes(status)) return report(object, true);
  return FAILURE_STATUSES.includes(status) ? report(object, false) : OK;
}

/**
 * What the members `success`, `ok`, `isError` and `is_error` of a result say: whether the tool succeeded. If they contradict each other the
 * answer is false, because a part has failed. Undefined if the result has none of them.
 */
function flagOf(object: JsonObject): boolean | undefined {
  const success = readFlag(object['success']);
  const ok = readFlag(object['ok']);
  const isError = readFlag(object['isError']) === true || readFlag(object['is_error']) === true;
  return success === false || ok === false || isError ? false : (success ?? ok);
}

/** The exit code of a program that failed. Undefined for 0, and for a value that is not a whole number. */
function exitCodeOf(object: JsonObject): number | undefined {
  for (const name of EXIT_CODES) {
    const value = object[name];
    const code = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
    if (typeof code === 'number' && Number.isInteger(code) && code !== 0) return code;
  }
  return undefined;
}

function readFlag(value: JsonValue | undefined): boolean | undefined {
  const plain = typeof value === 'string' ? value.toLowerCase() : value;
  if (plain === false || plain === 0 || plain === 'false') return false;
  if (plain === true || plain === 1 || plain === 'true') return true;
  return undefined;
}

function isPresent(error: JsonValue | undefined): boolean {
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0;
  return typeof error === 'string' ? error.trim() !== '' : Boolean(error);
}

function report(object: JsonObject, saidDenied: boolean): Judgement {
  const texts = errorTexts(object);
  const kind = saidDenied || texts.some(saysRefusal) ? 'denied' : 'failed';
  const shown = [...texts, object['message'], ...contentTexts(object['content'])].find(
    (text) => typeof text === 'string' && text.trim() !== '',
  );
  return { kind, message: typeof shown === 'string' ? cut(shown) : describeWithoutText(object, kind) };
}

/** The text blocks of a result in MCP format. When such a result reports failure, they explain it. */
function contentTexts(content: JsonValue | undefined): (JsonValue | undefined)[] {
  if (!Array.isArray(content)) return [];
  return content.map((block) => (isJsonObject(block) && block['type'] === 'text' ? block['text'] : undefined));
}

function describeWithoutText(object: JsonObject, kind: 'failed' | 'denied'): string {
  const exitCode = exitCodeOf(object);
  if (exitCode === undefined || kind === 'denied') return NO_MESSAGE[kind];
  return `The program ended with exit code ${exitCode}.`;
}

/** The fields that explain a failure, the most readable first. */
function errorTexts(object: JsonObject): string[] {
  const { error, reason } = object;
  const inner = isJsonObject(error) ? [error['message'], error['reason'], error['code'], error['type']] : [error];
  return [...inner, reason].filter((text) => typeof text === 'string');
}

function parseObject(text: string): JsonObject | undefined {
  if (text.length > MAX_PARSED || !/^\s*\{/.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE ? `${startOf(text, MAX_MESSAGE)}…` : text;
}

const MAX_TEXT = 8192;
/**
 * One cache for the process. Compiling a pattern takes longer than matching it, and all results of a tool are matched against the same
 * ones.
 */
const patterns = new BoundedCache<string, RE2JS>(1000);

/** Patterns are RE2, so that a tool cannot stop its worker with a pattern that backtracks. They were validated when the module was described. */
function matchesDenial(text: string, denials: readonly string[]): boolean {
  const start = text.slice(0, MAX_TEXT);
  return denials.some((pattern) => patterns.getOrMake(pattern, compile).matcher(start).find());
}

function compile(pattern: string): RE2JS {
  return RE2JS.compile(pattern);
}

/**
 * Closed lists. A word of them counts only as the whole `status` field; a denial word also as a whole error text of a result that reports
 * failure. The refusal phrases are searched within those error texts.
 */
const FAILURE_STATUSES: readonly string[] = ['error', 'failed', 'failure', 'unauthorized', 'unauthorised'];

const DENIAL_STATUSES: readonly string[] = [
  'denied',
  'forbidden',
  'permission denied',
  'access denied',
  'not permitted',
  'not allowed',
];

const REFUSAL_PHRASES: readonly RegExp[] = [
  /\bpermission denied\b/,
  /\baccess denied\b/,
  /\bdoes not have the [^.]{1,100}?\b(?:privilege|permission|role)\b/,
  /\b(?:is|are|was|were) not (?:permitted|allowed|authorized|authorised) to\b/,
  /\b(?:insufficient|missing) (?:permissions?|privileges?)\b/,
];

/** If a service rejects the tool's own credentials, that is not a denial for the caller. These words identify such error texts. */
const UPSTREAM_MARKS = /\b(?:401|403|407|upstream|unauthori[sz]ed)\b/;

/** `PERMISSION_DENIED`, `permission-denied` and `Permission denied` normalise to the same text. */
function normalise(text: string): string {
  return text
    .slice(0, 2000)
    .toLowerCase()
    .replace(/[_\s-]+/g, ' ')
    .trim();
}

function saysRefusal(errorText: string): boolean {
  const text = normalise(errorText);
  if (DENIAL_STATUSES.includes(text)) return true;
  return !UPSTREAM_MARKS.test(text) && REFUSAL_PHRASES.some((phrase) => phrase.test(text));
}
