import type { GivenInput } from './input.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { readArguments } from './read-arguments.ts';
import { parseStrictJson } from '../../base/strict-json.ts';

/** Reads the input of an envelope under the same rules as its arguments; undefined if it is invalid. */
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
 * Decodes a state: the answers of earlier rounds, and the state that the tool kept. In the text, a digest of the arguments comes first.
 * Undefined for a text that the plane cannot have returned as a state. Only canonical JSON is accepted: with a duplicate name or an escaped
 * letter, a person could be shown other answers than the tool gets.
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

/**
 * The input of an envelope as an approver sees it: canonical JSON, with the state decoded into the values that the tool will find in it.
 */
export function showInput(text: string): string {
  const { responses, state } = readInput(text) ?? {};
  const kept = state === undefined ? undefined : readInputState(state);
  if (kept === undefined) return text;
  return canonicalJson({ ...(responses === undefined ? {} : { responses }), state: kept });
}
