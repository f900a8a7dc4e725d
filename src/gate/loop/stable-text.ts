import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isTimeSince1970, scrubText } from './scrub-text.ts';

const MAX_CHARACTERS = 32 * 1024;
const NUMBER_CHARACTERS = 16;
/** Max depth at which a result is read. The wire format rejects deeper values anyway. */
const MAX_DEPTH = 100;

/** Names of values that are measured anew each time. The number itself does not show that, so the name decides. */
const MEASURED = /duration|elapsed|took|latency|uptime/i;
const TIME = /time|date|stamp|epoch|expir|since|until|(?:^|_)(?:ts|at|exp|iat|nbf|now)$|[a-z]At$/i;

const PROCESS = /^p?pid$|^process_?id$/i;
/** An id has 17 to 20 digits. Smaller numbers may be amounts. */
const MIN_ID = 1e16;
const MAX_ID = 1e20;

/** Collects a result as one text of limited size that does not depend on the order of keys. */
export class StableText {
  text = '';
  #left = MAX_CHARACTERS;
  readonly #scrubs: boolean;

  constructor(scrubs: boolean) {
    this.#scrubs = scrubs;
  }

  /** Adds a short fixed word. It is not scrubbed and does not count towards the limit. */
  mark(word: string): void {
    this.text += `\u0002${word}`;
  }

  addText(text: string): void {
    this.text += '"';
    if (text.length <= this.#left) {
      this.#left -= text.length;
      this.text += this.#scrubs ? scrubText(text) : text;
      return;
    }
    // A log grows at its end and a page may change at its beginning, so both ends are kept. The part between them is represented only by
    // the total length.
    const half = this.#left >> 1;
    this.#left = 0;
    const [head, tail] = [text.slice(0, half), half === 0 ? '' : text.slice(-half)];
    this.text += `${text.length}"`;
    this.text += this.#scrubs ? `${scrubText(head)}"${scrubText(tail)}` : `${head}"${tail}`;
  }

  addValue(value: JsonValue, name = '', depth = 0): void {
    if (typeof value === 'string') return this.addText(this.#scrubs && PROCESS.test(name) ? '#' : value);
    if (typeof value === 'number') return this.#addNumber(value, name);
    if (typeof value !== 'object' || value === null) {
      this.text += value === null ? 'n' : value ? 't' : 'f';
      return;
    }
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) this.#addList(value, name, depth);
    else this.#addGroup(value, depth);
  }

  #addNumber(value: number, name: string): void {
    this.#left -= NUMBER_CHARACTERS;
    this.text += this.#scrubs && isVolatile(value, name) ? '#' : `${value},`;
  }

  #addList(list: readonly JsonValue[], name: string, depth: number): void {
    this.text += `[${list.length}:`;
    for (const item of list) {
      if ((this.#left -= 2) <= 0) break;
      this.addValue(item, name, depth + 1);
    }
    this.text += ']';
  }

  #addGroup(group: JsonObject, depth: number): void {
    const names = Object.keys(group).sort();
    this.text += `{${names.length}:`;
    for (const name of names) {
      if ((this.#left -= name.length + 2) <= 0) break;
      this.text += this.#scrubs ? scrubText(name) : name;
      this.text += '\u0003';
      this.addValue(group[name]!, name, depth + 1);
    }
    this.text += '}';
  }
}

/**
 * Seconds since 1970 look like any other large number, so the member's name must show that they are a time. Milliseconds since 1970 are
 * recognised by their size alone.
 */
function isVolatile(value: number, name: string): boolean {
  if (name !== '' && (MEASURED.test(name) || PROCESS.test(name))) return true;
  if (isLongId(value)) return true;
  return isTimeSince1970(value) && (value > 1e12 || TIME.test(name));
}

export function isLongId(value: number): boolean {
  return value >= MIN_ID && value < MAX_ID && Number.isInteger(value);
}
