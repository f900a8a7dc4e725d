import type { GivenInput } from '../domain/input.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { canonicalJson } from './canonical-json.ts';
import { readArguments } from './read-arguments.ts';
import { parseStrictJson } from './strict-json.ts';

/** The answers in an envelope, by the rules for arguments; undefined for what is none. */
export function readInput(text: string): Pick<GivenInput, 'responses' | 'state'> | undefined {
  const read = readArguments(text);
  if (!read.ok) return undefined;
  const { responses, state, ...rest } = read.value;
  if (Object.keys(rest).length > 0) return undefined;
  if (responses !== undefined && !isJsonObject(responses)) return undefined;
  if (state !== undefined && (typeof state !== 'string' || readInputState(state) === undefined)) return undefined;
  return { ...(responses === undefined ? {} : { responses }), ...(state === undefined ? {} : { state }) };
}

const MARK = /^[0-9a-f]{32}\./;

/**
 * What stands in a state behind the mark of its arguments: answers of earlier rounds, and what the tool kept. Undefined for a text that
 * no outcome gave. Only canonical JSON is read: with a name twice or an escaped letter, a person could see other answers than the tool.
 */
export function readInputState(state: string): JsonObject | undefined {
  const mark = MARK.exec(state)?.[0];
  if (mark === undefined) return undefined;
  const text = state.slice(mark.length);
  const parsed = parseStrictJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value) || canonicalJson(parsed.value) !== text) return undefined;
  const { answers, state: _own, ...rest } = parsed.value;
  return answers !== undefined && isJsonObject(answers) && Object.keys(rest).length === 0 ? parsed.value : undefined;
}

/** The input of an envelope as an approver sees it: canonical JSON, the state as the values that the tool will find in it. */
export function showInput(text: string): string {
  const { responses, state } = readInput(text) ?? {};
  const kept = state === undefined ? undefined : readInputState(state);
  if (kept === undefined) return text;
  return canonicalJson({ ...(responses === undefined ? {} : { responses }), state: kept });
}
