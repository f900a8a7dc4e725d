import { describe, expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

const shown = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

describe('diffLines', () => {
  test('shows what was replaced, and what was not', () => {
    expect(shown('{\na\nb\nc\n}', '{\na\nB\nc\n}')).toEqual([' {', ' a', '-b', '+B', ' c', ' }']);
  });

  test('finds a line that moved past others', () => {
    expect(shown('a\nb\nc', 'b\nc\nd')).toEqual(['-a', ' b', ' c', '+d']);
  });

  test('says nothing changed where nothing did', () => {
    expect(shown('a\na', 'a\na')).toEqual([' a', ' a']);
  });

  test('gives back both texts, for any two texts', () => {
    const before = Array.from({ length: 60 }, (_, index) => String((index * 7) % 11)).join('\n');
    const after = Array.from({ length: 50 }, (_, index) => String((index * 5) % 13)).join('\n');
    const lines = diffLines(before, after);
    const without = (kind: string): string =>
      lines
        .filter((line) => line.kind !== kind)
        .map(({ text }) => text)
        .join('\n');
    expect(without('added')).toBe(before);
    expect(without('removed')).toBe(after);
  });
});
