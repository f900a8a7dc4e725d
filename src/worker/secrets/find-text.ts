/** Up to this length the engine's own search is used: it is fast, and its worst case is this number times the length of the text. */
const MAX_BY_ENGINE_LENGTH = 256;

/** A text to search for in others. The search takes time linear in the searched text, even if that was crafted to be slow to search. */
export class SoughtText {
  readonly text: string;
  /** For each prefix, the length of its longest beginning that is also its end (Knuth, Morris and Pratt). */
  #borders: Uint32Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** All places in order; overlapping ones are joined: `aaaa` in `aaaaaa` is one place of six characters. */
  *placesIn(text: string): Generator<readonly [start: number, end: number]> {
    let start = this.#indexIn(text, 0);
    if (start < 0) return;
    const period = this.text.length - this.#bordersOf().at(-1)!;
    while (start >= 0) {
      let end = start + this.text.length;
      while (end < text.length && text.charCodeAt(end) === text.charCodeAt(end - period)) end += 1;
      yield [start, end];
      start = this.#indexIn(text, end);
    }
  }

  /** Length of the longest end of the given text that is a beginning of this text, but not all of it. */
  beginningAtEndOf(text: string): number {
    const max = Math.min(this.text.length - 1, text.length);
    let matched = 0;
    for (let index = text.length - max; index < text.length; index += 1)
      matched = this.#next(matched, text.charCodeAt(index));
    return matched;
  }

  /** All places, in order, that contain the first `min` or more characters of this text; overlapping ones are joined. */
  *beginningsIn(text: string, min: number): Generator<readonly [start: number, end: number]> {
    if (this.text.length <= min) return;
    const head = this.text.slice(0, min);
    let start = text.indexOf(head);
    while (start >= 0) {
      let [end, matched] = [start + min, min];
      while (end < text.length && (matched = this.#next(matched, text.charCodeAt(end))) >= min) end += 1;
      yield [start, end];
      if (end === text.length) return;
      start = text.indexOf(head, end + 1 - matched);
    }
  }

  #indexIn(text: string, from: number): number {
    if (this.text.length <= MAX_BY_ENGINE_LENGTH) return text.indexOf(this.text, from);
    let matched = 0;
    for (let index = from; index < text.length; index += 1) {
      matched = this.#next(matched, text.charCodeAt(index));
      if (matched === this.text.length) return index - matched + 1;
    }
    return -1;
  }

  #next(matched: number, unit: number): number {
    const borders = this.#bordersOf();
    let length = matched;
    while (length > 0 && this.text.charCodeAt(length) !== unit) length = borders[length - 1]!;
    return this.text.charCodeAt(length) === unit ? length + 1 : length;
  }

  #bordersOf(): Uint32Array {
    if (this.#borders !== undefined) return this.#borders;
    const borders = new Uint32Array(this.text.length);
    for (let index = 1, length = 0; index < this.text.length; index += 1) {
      while (length > 0 && this.text.charCodeAt(index) !== this.text.charCodeAt(length)) length = borders[length - 1]!;
      if (this.text.charCodeAt(index) === this.text.charCodeAt(length)) length += 1;
      borders[index] = length;
    }
    return (this.#borders = borders);
  }
}
