import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeLine, escapeText, toSafeJson } from './escape-text.ts';

// Written out, and not as the classes the code uses.
const ACTS =
  // oxlint-disable-next-line no-control-regex -- control characters are the subject
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u;

describe('escapeText', () => {
  it.each([
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u001b]52;c;eA==\u0007', '\\u{1b}]52;c;eA==\\u{7}'],
    ['\u009b31m', '\\u{9b}31m'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['over\rwritten', 'over\\u{d}written'],
    ['two\nlines\tand a tab, caf\u00e9', 'two\nlines\tand a tab, caf\u00e9'],
  ])('shows %j as %j', (text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it('leaves no character that acts on a terminal', () => {
    for (let first = 0; first <= 0x10_ffff; first += 0x1000) {
      const characters = Array.from({ length: 0x1000 }, (_, index) => String.fromCodePoint(first + index));
      expect(escapeText(characters.join('')).match(ACTS)).toBeNull();
    }
  });

  it('keeps one line one line', () => {
    expect(escapeLine('a\n  forged: line\r\nb')).toBe('a forged: line b');
  });
});

describe('toSafeJson', () => {
  it('means the same and holds nothing that acts on a terminal', () => {
    fc.assert(
      fc.property(
        fc.record({ value: fc.string({ unit: 'grapheme' }) }, { noNullPrototype: true }),
        fc.string(),
        (object, key) => {
          const value = { [`k${key}`]: object, acts: '\u009b31m\u202e\u{e0041}' };
          const json = toSafeJson(value);
          expect(ACTS.test(json)).toBe(false);
          expect(JSON.parse(json)).toStrictEqual(value);
        },
      ),
    );
  });

  it('writes bytes as base64', () => {
    expect(JSON.parse(toSafeJson({ bytes: new Uint8Array([1, 2, 255]) }))).toStrictEqual({ bytes: 'AQL/' });
  });
});
