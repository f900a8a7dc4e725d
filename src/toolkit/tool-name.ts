import { splitToolId } from '../domain/ids.ts';
import { sha256 } from '../wire/digest.ts';

/** The narrowest of the providers: letters, digits, `_` and `-`, not a digit first (Gemini), 64 characters. */
export const TOOL_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const MAX_LENGTH = 64;
const SEPARATOR = '__';
/** 100 bits in base 32. */
const DIGEST_HEX_DIGITS = 25;
const DIGEST_LENGTH = 20;
/** What a long id keeps of its module: the tool says more to a model. */
const MIN_MODULE_LENGTH = 14;

/**
 * The name under which models know a tool. It depends on the id and on nothing else, so a tool keeps its name whatever else is in
 * the toolkit, and no two ids share one:
 *
 * - `module__tool` when that fits and has exactly one `__`: where it is, the id is split, so the id can be read back.
 * - else `words_digest`, which never has a `__`, so it is never a name of the first form. The digest is of the whole id.
 */
export function toolName(id: string): string {
  const parts = splitToolId(id);
  if (parts === undefined) return digestName(id);
  const name = startWithLetter(`${parts.module}${SEPARATOR}${parts.tool}`);
  // `a_` and `b` would read `a___b`, where two splits are possible.
  const isUnambiguous = name.indexOf(SEPARATOR) === name.lastIndexOf(SEPARATOR);
  return name.length <= MAX_LENGTH && isUnambiguous ? name : digestName(id);
}

function digestName(id: string): string {
  const digest = BigInt(`0x${sha256(id).slice(0, DIGEST_HEX_DIGITS)}`)
    .toString(32)
    .padStart(DIGEST_LENGTH, '0');
  const words = startWithLetter(wordsOf(id, MAX_LENGTH - DIGEST_LENGTH - 2));
  return `${words}_${digest}`;
}

/** For the model's eyes only. No two `_` in a row, none at the ends. */
function wordsOf(id: string, room: number): string {
  const dot = id.indexOf('.');
  const tool = id.slice(dot + 1);
  const module = id.slice(0, Math.max(dot, 0)).slice(0, Math.max(MIN_MODULE_LENGTH, room - tool.length - 1));
  return `${module}_${tool}`
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .slice(0, room)
    .replaceAll(/^_+|_+$/g, '');
}

/** No module starts with `_`, so that this one can be told apart. */
function startWithLetter(name: string): string {
  return /^[0-9-]/.test(name) ? `_${name}` : name;
}
