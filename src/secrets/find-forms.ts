import { LEAST_ANYWHERE, type SecretForm } from './secret-forms.ts';

/** A secret of a call, and every way in which it may come back. */
export interface TaintedSecret {
  readonly name: string;
  readonly value: string;
  readonly forms: readonly SecretForm[];
}

export interface FoundSecret {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** It stands there as it is. */
  readonly raw: boolean;
}

/** A text may have been cut in the middle of a secret: so much of its beginning is taken for it. */
const LEAST_CUT = 8;
const LETTER = /[\p{L}\p{N}]/u;

/** Where secrets stand in a text, in order, those that meet made one. With `mayBeCut`, also the beginning of one at its end. */
export function findSecrets(text: string, secrets: readonly TaintedSecret[], mayBeCut: boolean): FoundSecret[] {
  const found: FoundSecret[] = [];
  let bare: BareText | undefined;
  for (const { name, value, forms } of secrets) {
    const alone = value.length < LEAST_ANYWHERE;
    for (const form of forms) {
      const raw = form.sought.text === value;
      for (const [start, end] of form.sought.placesIn(text)) {
        if (!alone || standsAlone(text, start, end)) found.push({ start, end, name, raw });
      }
      if (form.breaks && !alone) {
        bare ??= withoutBreaks(text);
        for (const [start, end] of bare.isSame ? [] : form.sought.placesIn(bare.text)) {
          found.push({ start: bare.placeOf(start), end: bare.placeOf(end - 1) + 1, name, raw: false });
        }
      }
      const cut = mayBeCut && !alone ? form.sought.beginningAtEndOf(text) : 0;
      if (cut >= LEAST_CUT) found.push({ start: text.length - cut, end: text.length, name, raw: false });
    }
  }
  return join(found);
}

function standsAlone(text: string, start: number, end: number): boolean {
  const isLetter = (character: string | undefined): boolean => character !== undefined && LETTER.test(character);
  return !isLetter(text[start - 1]) && !isLetter(text[end]);
}

interface BareText {
  readonly text: string;
  readonly isSame: boolean;
  placeOf(index: number): number;
}

const BREAK = /(?:\\[rn]|[\r\n])[ \t]*/g;

function withoutBreaks(text: string): BareText {
  const starts: number[] = [];
  const removed: number[] = [];
  let total = 0;
  const bare = text.replaceAll(BREAK, (found, index: number) => {
    starts.push(index - total);
    total += found.length;
    removed.push(total);
    return '';
  });
  return {
    text: bare,
    isSame: total === 0,
    placeOf(index) {
      // The last break at or before it.
      let [low, high] = [0, starts.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle]! <= index) low = middle + 1;
        else high = middle;
      }
      return index + (low === 0 ? 0 : removed[low - 1]!);
    },
  };
}

function join(found: FoundSecret[]): FoundSecret[] {
  const joined: FoundSecret[] = [];
  for (const one of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last === undefined || one.start >= last.end) joined.push(one);
    else if (one.end > last.end) joined[joined.length - 1] = { ...last, end: one.end, raw: false };
  }
  return joined;
}
