import type { JsonObject } from '../domain/json.ts';
import { isJsonObject } from '../domain/json.ts';
import { checkArguments } from './check-arguments.ts';
import { JSON_LIMITS, parseStrictJson } from './strict-json.ts';

export type ReadArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * The arguments of an envelope, by the rules they were written under. Whoever can write to the queue can write anything: two readers
 * of a duplicate key, of `__proto__` or of an inexact number could see two different calls.
 */
export function readArguments(text: string): ReadArguments {
  const usual = readUsual(text);
  if (usual !== undefined) return { ok: true, value: usual };
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

const MOST_USUAL = 4096;
/** Keys that are refused, and how the engine writes a NUL and half of a surrogate pair. */
const SUSPICIOUS = ['__proto__', 'constructor', 'prototype', String.raw`\u0000`, String.raw`\ud`];

const LONG_NUMBER = /\d{16}/;

/**
 * Short canonical JSON, read by the engine itself. What is written again as the very same text has no duplicate key, no escape that is not
 * needed and no blank: each of these comes out differently. Says nothing about anything else; the strict reader does.
 */
function readUsual(text: string): JsonObject | undefined {
  if (text.length > MOST_USUAL || text.charCodeAt(0) !== OPEN_OBJECT || !isShallow(text)) return undefined;
  for (const word of SUSPICIOUS) if (text.includes(word)) return undefined;
  // Such an integer may come out as it went in, and still not be what was meant.
  if (LONG_NUMBER.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonObject;
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const OPEN_OBJECT = 0x7b;

/** No deeper than allowed, because there are not so many brackets. */
function isShallow(text: string): boolean {
  let brackets = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) brackets += 1;
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) brackets += 1;
  return brackets <= JSON_LIMITS.depth;
}

function refused(problem: string): ReadArguments {
  return { ok: false, problem };
}
