import { viewsOf, withoutBreaks, type View } from './decoded-view.ts';
import { MIN_ANYWHERE, withEdges, type SecretForm } from './secret-forms.ts';

/** A secret of a call, and every form in which it may reappear. */
export interface TaintedSecret {
  readonly name: string;
  readonly value: string;
  readonly forms: readonly SecretForm[];
}

export interface FoundSecret {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** The secret appears in the text unchanged. */
  readonly raw: boolean;
}

/**
 * Min characters of a secret's beginning that count as the secret at the end of a text, because the text may have been cut in the middle of
 * the secret.
 */
const MIN_CUT = 8;
/** The same anywhere else in a text: a message may quote a name or another text that was cut before. */
const MIN_CUT_WITHIN = 16;
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Finds secrets in a text, in order; overlapping places are joined. With `mayBeCut`, also finds a secret of which only the beginning is
 * left: `MIN_CUT` characters at the end of the text, `MIN_CUT_WITHIN` elsewhere.
 */
export function findSecrets(text: string, secrets: readonly TaintedSecret[], mayBeCut: boolean): FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const [index, view] of viewsOf(text).entries()) {
    const isPlain = index === 0;
    const oneLine = isPlain ? withoutBreaks(view) : undefined;
    for (const secret of secrets) {
      findIn(view, secret, mayBeCut, isPlain, found);
      if (oneLine !== undefined) findInOneLine(oneLine, secret, found);
    }
  }
  return join(found);
}

function findIn(view: View, secret: TaintedSecret, mayBeCut: boolean, isPlain: boolean, found: FoundSecret[]): void {
  const { name, value, forms } = secret;
  const { text } = view;
  const alone = value.length < MIN_ANYWHERE;
  for (const form of forms) {
    const { sought } = form;
    for (const [start, end] of sought.placesIn(text)) {
      if (alone && !standsAlone(text, start, end)) continue;
      found.push({
        ...placeIn(view, ...withEdges(form, text, [start, end])),
        name,
        raw: isPlain && sought.text === value,
      });
    }
    if (!mayBeCut || alone) continue;
    for (const place of sought.beginningsIn(text, MIN_CUT_WITHIN)) {
      found.push({ ...placeIn(view, ...withEdges(form, text, place, true)), name, raw: false });
    }
    const cut = sought.beginningAtEndOf(text);
    if (cut < MIN_CUT) continue;
    const place = withEdges(form, text, [text.length - cut, text.length]);
    found.push({ ...placeIn(view, ...place), name, raw: false });
  }
}

function findInOneLine(view: View, { name, value, forms }: TaintedSecret, found: FoundSecret[]): void {
  if (value.length < MIN_ANYWHERE) return;
  for (const form of forms) {
    for (const place of form.breaks ? form.sought.placesIn(view.text) : []) {
      found.push({ ...placeIn(view, ...withEdges(form, view.text, place)), name, raw: false });
    }
  }
}

function placeIn(view: View, start: number, end: number): { readonly start: number; readonly end: number } {
  return { start: view.startOf(start), end: view.endOf(end - 1) };
}

function standsAlone(text: string, start: number, end: number): boolean {
  const isLetter = (character: string | undefined): boolean => character !== undefined && LETTER.test(character);
  return !isLetter(text[start - 1]) && !isLetter(text[end]);
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
