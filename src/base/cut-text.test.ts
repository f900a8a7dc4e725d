import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOf, shorten, startOf } from './cut-text.ts';
import { hasLoneSurrogate } from './well-formed.ts';

const FACE = '\u{1f600}';

describe('a cut text', () => {
  it('keeps what fits, and its beginning or end otherwise', () => {
    expect([startOf('abc', 3), endOf('abc', 3), shorten('abc', 3)]).toEqual(['abc', 'abc', 'abc']);
    expect([startOf('abcd', 3), endOf('abcd', 3), shorten('abcd', 3)]).toEqual(['abc', 'bcd', 'ab…']);
  });

  it('never has half of a surrogate pair', () => {
    expect([startOf(`ab${FACE}c`, 3), endOf(`a${FACE}bc`, 3), shorten(`a${FACE}bc`, 3)]).toEqual(['ab', 'bc', 'a…']);
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, length) => {
        for (const cut of [startOf(whole, length), endOf(whole, length), shorten(whole, length)]) {
          expect(cut.length).toBeLessThanOrEqual(length);
          expect(hasLoneSurrogate(cut)).toBe(false);
        }
      }),
    );
  });
});
