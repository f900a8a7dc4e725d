import { describe, expect, test } from 'vitest';
import { foldText } from './fold-text.ts';

const limits = { lines: 10, characters: 100, tailLines: 3 };
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index}`).join('\n');

describe('foldText', () => {
  test('shows a short text whole', () => {
    expect(foldText(lines(10), limits)).toBeUndefined();
  });

  test('keeps the end of a long text in sight', () => {
    expect(foldText(lines(12), limits)).toEqual({ head: lines(7), tail: '9\n10\n11', hidden: '2 lines' });
  });

  test('folds one long line, where a dangerous end could hide as well', () => {
    const folded = foldText(`${'a'.repeat(500)}; rm -rf /`, limits);
    expect(folded?.head).toBe('a'.repeat(50));
    expect(folded?.tail.endsWith('; rm -rf /')).toBe(true);
    expect(folded?.hidden).toBe('410 characters');
  });

  test('leaves nothing out but what it counts, and cuts no character in two', () => {
    const text = '🎉'.repeat(101);
    const folded = foldText(text, limits)!;
    expect(text.startsWith(folded.head) && text.endsWith(folded.tail)).toBe(true);
    expect(`${folded.head}\n${folded.tail}`).not.toMatch(/\p{Cs}/u);
    expect(folded.hidden).toBe(`${text.length - folded.head.length - folded.tail.length} characters`);
  });
});
