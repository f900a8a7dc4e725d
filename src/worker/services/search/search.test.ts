import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeRanked, rankByWords } from './search-documents.ts';
import { MAX_TERMS, termsOf } from './terms.ts';
import { isOfModel, packVector, similarity } from './vector.ts';

/** Any code points, including lone surrogates. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 600 })
  .map((points) => String.fromCodePoint(...points));

describe('termsOf', () => {
  it.each([
    ['Hello, hello WORLD!', ['hello', 'world']],
    ['Crème brûlée', ['creme', 'brulee']],
    ['ﬁne ｆｕｌｌ', ['fine', 'full']],
    ['東京都 x', ['東京', '京都', 'x']],
    ['a-b_c d.e', ['a', 'b', 'c', 'd', 'e']],
    ['?! —', []],
    ['\u{10330}'.repeat(50), ['\u{10330}'.repeat(40)]],
  ])('%s', (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it('gives words of letters and digits only, short and not too many, for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const terms = termsOf(text);
        expect(terms.length).toBeLessThanOrEqual(MAX_TERMS);
        expect(terms.filter((term) => !/^[\p{L}\p{N}]{1,40}$/u.test(term))).toEqual([]);
      }),
    );
  });
});

describe('rankByWords', () => {
  it('lets a rare word count more than several common ones', () => {
    const common = Array.from({ length: 90 }, (_, index) => `c${index}`);
    const ranked = rankByWords({ documents: 100, lists: [common, common, ['rare']] }, 3);
    expect(ranked[0]!.id).toBe('rare');
  });

  it('gives the whole score to what has every word that is there at all', () => {
    expect(rankByWords({ documents: 2, lists: [['a'], ['a', 'b'], []] }, 1)).toEqual([{ id: 'a', score: 1 }]);
  });
});

it('mergeRanked gives each once, with its better score', () => {
  const lists = [
    [
      { id: 'a', score: 0.2 },
      { id: 'b', score: 0.5 },
    ],
    [{ id: 'a', score: 0.9 }],
  ];
  expect(mergeRanked(lists, 5)).toEqual([
    { id: 'a', score: 0.9 },
    { id: 'b', score: 0.5 },
  ]);
});

describe('vectors', () => {
  const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 });

  it('keep the angle between them when they are packed', () => {
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        const size = (v: readonly number[]): number => Math.hypot(...v);
        fc.pre(size(a) > 0.1 && size(b) > 0.1);
        const exact = a.reduce((sum, value, index) => sum + value * b[index]!, 0) / size(a) / size(b);
        expect(similarity(packVector('m', a), packVector('m', b))).toBeCloseTo(exact, 1);
      }),
    );
  });

  it('know their model, and do not compare with other dimensions', () => {
    const packed = packVector('m', [1, 2]);
    expect([isOfModel('m', packed), isOfModel('n', packed)]).toEqual([true, false]);
    expect(similarity(packed, packVector('m', [1, 2, 3]))).toBe(0);
    expect(similarity(packed, packVector('m', [0, 0]))).toBe(0);
  });
});
