import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLists, diffWords, MAX_SEARCH_STEPS, newSteps, splitWords, type Segment } from './diff-words.ts';

// The unit `binary` of fast-check needs seconds to begin.
const anyText = fc.string({
  unit: fc
    .nat(0x10ffff)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code)),
});

const sideOf = (segments: readonly Segment[], side: 'removed' | 'added'): string =>
  segments
    .filter(({ kind }) => kind === 'kept' || kind === side)
    .flatMap(({ words }) => words)
    .join('');
const marked = (before: string, after: string): string =>
  diffWords(splitWords(before), splitWords(after), newSteps())
    .map(
      ({ kind, words }) =>
        ({ kept: words.join(''), removed: `[-${words.join('')}-]`, added: `{+${words.join('')}+}` })[kind],
    )
    .join('');

describe('the difference of texts', () => {
  it.each([
    ['', '', ''],
    ['same', 'same', 'same'],
    ['Reads a file.', 'Reads a secret file.', 'Reads a {+secret +}file.'],
    ['Reads a file.', 'Writes a file.', '[-Reads-]{+Writes+} a file.'],
    ['one two three', 'un deux three', '[-one two-]{+un deux+} three'],
    ['', 'new', '{+new+}'],
    ['old', '', '[-old-]'],
    ['a b', 'a  b', 'a[- -]{+  +}b'],
    ['a\u200b b', 'a b', 'a[-\u200b-] b'],
    ['a\u2060 b', 'a b', '[-a\u2060-]{+a+} b'],
    ['naïve café', 'naïve thé', 'naïve [-café-]{+thé+}'],
    ['猫が好き', '犬が好き', '[-猫-]{+犬+}が好き'],
  ])('of %j and %j is by words', (before, after, expected) => {
    expect(marked(before, after)).toBe(expected);
  });

  const words = fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\u200b', 'deux', '\n', '😀'), { maxLength: 40 });
  it('contains both texts, with enough steps and without', () => {
    fc.assert(
      fc.property(words, words, fc.nat(60), (before, after, searchesLeft) => {
        for (const steps of [newSteps(), { spent: 0, searchesLeft }]) {
          const segments = diffWords(before, after, steps);
          expect(sideOf(segments, 'removed')).toBe(before.join(''));
          expect(sideOf(segments, 'added')).toBe(after.join(''));
        }
      }),
    );
  });

  it('contains any Unicode texts', () => {
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        const segments = diffWords(splitWords(before), splitWords(after), newSteps());
        expect(sideOf(segments, 'removed')).toBe(before);
        expect(sideOf(segments, 'added')).toBe(after);
      }),
    );
  });

  it('is as short as a search over all possibilities finds', () => {
    const small = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 10 });
    fc.assert(
      fc.property(small, small, (before, after) => {
        const kept = diffLists(before, after, newSteps()).filter(({ isKept }) => isKept);
        const length = kept.reduce((sum, { before: [start, end] }) => sum + end - start, 0);
        expect(length).toBe(longestCommon(before, after));
      }),
    );
  });

  it('has runs that follow each other without gaps', () => {
    fc.assert(
      fc.property(words, words, (before, after) => {
        let [x, y] = [0, 0];
        for (const run of diffLists(before, after, newSteps())) {
          expect([run.before[0], run.after[0]]).toStrictEqual([x, y]);
          const isEqual = before.slice(...run.before).join() === after.slice(...run.after).join();
          expect(isEqual || !run.isKept).toBe(true);
          [x, y] = [run.before[1], run.after[1]];
        }
        expect([x, y]).toStrictEqual([before.length, after.length]);
      }),
    );
  });
});

describe('the work of a comparison', () => {
  const many = 100_000;
  const numbered = (count: number, prefix: string): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  // The greatest cost for texts: words that repeat, so that every diagonal has long equal parts.
  const pattern = (period: number): string[] =>
    Array.from({ length: many }, (_, index) => (index % period === 0 ? 'x' : 'a'));

  it.each([
    ['without a common word', numbered(many, 'a'), numbered(many, 'b')],
    ['in reverse order', numbered(many, 'a'), numbered(many, 'a').toReversed()],
    ['of repeated words', pattern(97), pattern(89)],
    ['of two words, many against one', pattern(2), pattern(3)],
  ])('is bounded for 100,000 words %s', (_, before, after) => {
    const steps = newSteps();
    const segments = diffWords(before, after, steps);
    // Each word is numbered once and looked at once at each end; the search adds at most its own limit.
    expect(steps.spent).toBeLessThanOrEqual(2 * (before.length + after.length) + MAX_SEARCH_STEPS);
    expect(steps.searchesLeft).toBeGreaterThanOrEqual(0);
    expect(sideOf(segments, 'removed')).toBe(before.join(''));
    expect(sideOf(segments, 'added')).toBe(after.join(''));
  });

  it('is in proportion to the words if few of them differ', () => {
    const before = numbered(many, 'a');
    const after = before.with(10, 'x').with(50_000, 'y').toSpliced(99_000, 0, 'z');
    const steps = newSteps();
    const changed = diffLists(before, after, steps).filter(({ isKept }) => !isKept);
    expect(changed.map((run) => run.after)).toStrictEqual([
      [10, 11],
      [50_000, 50_001],
      [99_000, 99_001],
    ]);
    expect(steps.spent).toBeLessThan(10 * many);
  });

  it('is shared by all lists that are compared with the same steps', () => {
    const steps = { spent: 0, searchesLeft: 50 };
    for (let round = 0; round < 10; round += 1) diffLists(numbered(30, 'a'), numbered(30, 'b'), steps);
    expect(steps.searchesLeft).toBe(0);
    expect(steps.spent).toBeLessThanOrEqual(10 * 2 * 60 + 50);
  });

  it('ends within a long equal part when the steps are used up', () => {
    const [before, after] = [
      ['b', ...numbered(1000, 'k'), 'e'],
      ['x', ...numbered(1000, 'k'), 'y'],
    ];
    const steps = { spent: 0, searchesLeft: 50 };
    expect(diffLists(before, after, steps).map(({ isKept }) => isKept)).toStrictEqual([false]);
    expect(steps).toStrictEqual({ spent: before.length + after.length + 50, searchesLeft: 0 });
  });

  it('shows everything between the equal ends as replaced when the steps are used up', () => {
    const kinds = diffWords(['k', 'a', 'b', 'e'], ['k', 'x', 'b', 'y', 'e'], { spent: 0, searchesLeft: 1 });
    expect(kinds.map(({ kind, words }) => `${kind} ${words.join('')}`)).toStrictEqual([
      'kept k',
      'removed ab',
      'added xby',
      'kept e',
    ]);
  });
});

function longestCommon(before: readonly string[], after: readonly string[]): number {
  const table = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0));
  for (const [x, word] of before.entries()) {
    for (const [y, other] of after.entries()) {
      table[x + 1]![y + 1] = word === other ? table[x]![y]! + 1 : Math.max(table[x]![y + 1]!, table[x + 1]![y]!);
    }
  }
  return table[before.length]![after.length]!;
}
