import type { JsonObject } from '../domain/json.ts';
import { isJsonObject } from '../domain/json.ts';
import { checkArguments } from './check-arguments.ts';
import { parseStrictJson } from './strict-json.ts';

export type ReadArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * The arguments of an envelope, by the rules they were written under. Whoever can write to the queue can write anything: two readers
 * of a duplicate key, of `__proto__` or of an inexact number could see two different calls.
 */
export function readArguments(text: string): ReadArguments {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return refused(`the arguments: ${parsed.error.problem}`);
  const { value } = parsed;
  if (!isJsonObject(value)) return refused('the arguments are not an object');
  // The only way to write a NUL, and rare enough to look twice.
  if (text.includes(String.raw`\u0000`)) {
    const checked = checkArguments(value);
    if (!checked.ok) return refused(checked.code === 'ENVELOPE_INVALID' ? checked.facts.problem : 'they are too large');
  }
  return { ok: true, value };
}

function refused(problem: string): ReadArguments {
  return { ok: false, problem };
}
