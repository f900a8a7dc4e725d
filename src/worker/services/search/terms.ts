const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that are written without spaces. Their words are indexed as pairs of characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const MAX_WORD_LENGTH = 40;
const MAX_CHARACTERS = 16 * 1024;
/** Max terms of one document: a longer text is found by its first words only. @internal */
export const MAX_TERMS = 400;
/** Max terms of one query. */
export const MAX_QUERY_TERMS = 16;

/**
 * Returns the distinct words of a text, folded: case and accents do not matter. Both stores index exactly these words, so both find the same
 * documents.
 */
export function termsOf(text: string, max: number = MAX_TERMS): string[] {
  const folded = text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase();
  const terms = new Set<string>();
  for (const [word] of folded.matchAll(WORD)) {
    for (const term of UNSPACED.test(word) ? pairsOf(word) : [cut(word)]) {
      terms.add(term);
      if (terms.size >= max) return [...terms];
    }
  }
  return [...terms];
}

/** Cuts a long word between characters, never inside a surrogate pair. */
function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : Array.from(word).slice(0, MAX_WORD_LENGTH).join('');
}

function* pairsOf(word: string): Generator<string> {
  let before: string | undefined;
  for (const character of word) {
    if (before !== undefined) yield `${before}${character}`;
    else if (character.length === word.length) yield character;
    before = character;
  }
}
