import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearNames } from './near-names.ts';

const KNOWN = ['even', 'odd.even', 'dot.even', 'notes.search', 'notes.add', 'notes.edit', 'web.fetch', 'files.read'];

describe('nearNames', () => {
  it.each([
    ['notes.serach', ['notes.search']],
    ['Notes.Add', ['notes.add']],
    ['notes.edt', ['notes.edit', 'notes.add']],
    ['files.raed', ['files.read']],
    ['evne', ['even']],
    ['odt.even', ['dot.even', 'odd.even']],
    ['something.else', []],
    ['', []],
  ])('for "%s" suggests %j', (name, near) => {
    expect(nearNames(name, KNOWN)).toStrictEqual(near);
  });

  it('does not look at names longer than any tool id', () => {
    expect(nearNames('x'.repeat(130), ['x'.repeat(129)])).toStrictEqual([]);
  });

  it('suggests at most as many as asked for, the nearest first', () => {
    expect(nearNames('tool-1', ['tool-11', 'tool-2', 'tool-3', 'tool-1'], 2)).toStrictEqual(['tool-1', 'tool-11']);
  });

  it('leaves nothing out with its quick test', () => {
    const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', '.', '_') });
    fc.assert(
      fc.property(word, word, (name, candidate) => {
        const bound = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
        expect(nearNames(name, [candidate]).length === 1).toBe(editDistance(name, candidate, 100) <= bound);
      }),
    );
  });
});

describe('editDistance', () => {
  it('counts inserted, deleted and replaced characters', () => {
    expect(editDistance('kitten', 'sitting', 10)).toBe(3);
    expect(editDistance('', 'abc', 10)).toBe(3);
    expect(editDistance('same', 'same', 0)).toBe(0);
  });

  it('counts two neighbours that changed places as one edit', () => {
    expect(editDistance('serach', 'search', 10)).toBe(1);
    expect(editDistance('badc', 'abcd', 10)).toBe(2);
    // Two characters that were swapped cannot be edited again. Otherwise the distance would be 2: swap `c` and `a`, then insert `b` between
    // them.
    expect(editDistance('ca', 'abc', 10)).toBe(3);
  });

  it('is what trying every edit finds, within every bound', () => {
    const word = fc.string({ maxLength: 7, unit: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(word, word, fc.nat(8), (a, b, bound) => {
        expect(editDistance(a, b, bound)).toBe(Math.min(plainDistance(a, b), bound + 1));
      }),
      { numRuns: 2000 },
    );
  });

  it('stops at its bound', () => {
    expect(editDistance('aaaaaaaa', 'bbbbbbbb', 2)).toBe(3);
  });
});

/** The definition of the edit distance: tries every edit at every place, without a shortcut. */
function plainDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  const ways = [
    plainDistance(restA, restB) + (a[0] === b[0] ? 0 : 1),
    plainDistance(restA, b) + 1,
    plainDistance(a, restB) + 1,
  ];
  if (a.length > 1 && a[0] === b[1] && a[1] === b[0]) ways.push(plainDistance(a.slice(2), b.slice(2)) + 1);
  return Math.min(...ways);
}
