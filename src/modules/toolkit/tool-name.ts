import { splitToolId } from '../../domain/identity/ids.ts';
import { sha256 } from '../../base/sha256.ts';

/** The strictest rule among the providers: letters, digits, `_` and `-`, not a digit first (Gemini), max 64 characters. */
export const TOOL_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const MAX_LENGTH = 64;
const SEPARATOR = '__';
/** 100 bits: 25 hex digits, or 20 characters in base 32. */
const DIGEST_HEX_DIGITS = 25;
const DIGEST_LENGTH = 20;
/** Min characters that are kept of the module in a long id. The tool's part gets the rest because it is more useful to a model. */
const MIN_MODULE_LENGTH = 14;

/**
 * The name under which models know a tool. It depends only on the id, so a tool keeps its name whatever else is in the toolkit, and no two
 * ids share a name:
 *
 * - `module__tool` if that fits and has exactly one `__`. The id can be read back, because it is split at that place.
 * - otherwise `words_digest`, which never contains `__`, so it never equals a name of the first form. The digest is of the whole id.
 */
export function toolName(id: string): string {
  const parts = splitToolId(id);
  if (parts === undefined) return digestName(id);
  const name = startWithLetter(`${parts.module}${SEPARATOR}${parts.tool}`);
  // Module `a_` and tool `b` would give `a___b`, which can be split in two ways.
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

/** Readable words, only for the model. No two `_` in a row, none at the ends. */
function wordsOf(id: string, room: number): string {
  const dot = id.indexOf('.');
  const tool = id.slice(dot + 1);
  const module = id.slice(0, Math.max(dot, 0)).slice(0, Math.max(MIN_MODULE_LENGTH, room - tool.length - 1));
  return `${module}_${tool}`
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .slice(0, room)
    .replaceAll(/^_+|_+$/g, '');
}

/** Adds `_` in front of a digit or dash. No module starts with `_`, so the added one can be recognised. */
function startWithLetter(name: string): string {
  return /^[0-9-]/.test(name) ? `_${name}` : name;
}
