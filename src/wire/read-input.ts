import type { GivenInput } from '../domain/input.ts';
import { isJsonObject } from '../domain/json.ts';
import { readArguments } from './read-arguments.ts';

/** The answers in an envelope, by the rules for arguments; undefined for what is none. */
export function readInput(text: string): Pick<GivenInput, 'responses' | 'state'> | undefined {
  const read = readArguments(text);
  if (!read.ok) return undefined;
  const { responses, state, ...rest } = read.value;
  if (Object.keys(rest).length > 0) return undefined;
  if (responses !== undefined && !isJsonObject(responses)) return undefined;
  if (state !== undefined && typeof state !== 'string') return undefined;
  return { ...(responses === undefined ? {} : { responses }), ...(state === undefined ? {} : { state }) };
}
