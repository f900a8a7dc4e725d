import type { JsonObject } from '../../base/json.ts';
import { isJsonObject } from '../../base/json.ts';
import { checkArguments } from './check-arguments.ts';
import { JSON_LIMITS, parseStrictJson } from '../../base/strict-json.ts';

export type ReadArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the arguments of an envelope under the rules that the sender's side applied when it wrote them. They are checked again because a
 * program that can write to the queue can write any text. With a duplicate key, `__proto__` or an inexact number, two readers could see two
 * different calls.
 */
export function readArguments(text: string): ReadArguments {
  const usual = readUsual(text);
  if (usual !== undefined) return { ok: true, value: usual };
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return refused(`the arguments: ${parsed.error.problem}`);
  const { value } = parsed;
  if (!isJsonObject(value)) return refused('the arguments are not an object');
  // JSON text can contain a NUL only as this escape. It is rare, so the second check costs little.
  if (text.includes(String.raw`\u0000`)) {
    const checked = checkArguments(value);
    if (!checked.ok) return refused(checked.code === 'ENVELOPE_INVALID' ? checked.facts.problem : 'they are too large');
  }
  return { ok: true, value };
}

const MAX_USUAL = 4096;
/** Keys that are refused, and the escapes with which JSON.stringify writes a NUL and a lone surrogate. */
const SUSPICIOUS = ['__proto__', 'constructor', 'prototype', String.raw`\u0000`, String.raw`\ud`];

const LONG_NUMBER = /\d{16}/;

/**
 * Fast path: short canonical JSON, read by the engine itself. If the parsed value is written again as the same text, the text has no
 * duplicate key, no unneeded escape and no blank: each of these would come out differently. Undefined means undecided: the strict reader
 * decides.
 */
function readUsual(text: string): JsonObject | undefined {
  if (text.length > MAX_USUAL || text.charCodeAt(0) !== OPEN_OBJECT || !isShallow(text)) return undefined;
  for (const word of SUSPICIOUS) if (text.includes(word)) return undefined;
  // An integer this long may be inexact and still be written again as the same text.
  if (LONG_NUMBER.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonObject;
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const OPEN_OBJECT = 0x7b;

/** True if the text has so few brackets that it cannot be nested deeper than allowed. */
function isShallow(text: string): boolean {
  let brackets = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) brackets += 1;
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) brackets += 1;
  return brackets <= JSON_LIMITS.depth;
}

function refused(problem: string): ReadArguments {
  return { ok: false, problem };
}
