import { describe, expect, test } from 'vitest';
import { splitHidden } from './split-hidden.ts';

const shown = (text: string, keepLines = false): string =>
  splitHidden(text, keepLines)
    .map((part) => part.text)
    .join('');

describe('splitHidden', () => {
  test('spells out what turns the text around', () => {
    expect(splitHidden('a\u202Eb', false)).toEqual([
      { kind: 'plain', text: 'a' },
      { kind: 'hidden', text: '\\u{202e}' },
      { kind: 'plain', text: 'b' },
    ]);
  });

  test.each([
    ['zero width space', '\u200B'],
    ['word joiner', '\u2060'],
    ['tag letter', '\u{E0041}'],
    ['variation selector', '\uFE0F'],
    ['no-break space', '\u00A0'],
    ['Hangul filler', '\u3164'],
    ['Braille blank', '\u2800'],
    ['escape', '\u001B'],
    ['carriage return', '\r'],
    ['lone surrogate', '\uD800'],
  ])('spells out a %s', (_, character) => {
    expect(shown(`x${character}y`, true)).toBe(`x\\u{${character.codePointAt(0)!.toString(16)}}y`);
  });

  test('keeps line breaks and tabs where lines are wanted, and only there', () => {
    expect(shown('a\n\tb', true)).toBe('a\n\tb');
    expect(shown('a\n\tb')).toBe('a\\u{a}\\u{9}b');
  });

  test('leaves letters of every script as they are', () => {
    const text = 'Grüße, 你好, שלום, e\u0301 ☂ 🎉';
    expect(splitHidden(text, false)).toEqual([{ kind: 'plain', text }]);
  });
});
