import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeHidden, escapeLine, escapeText, toSafeJson, toVisibleJsonString } from './escape-text.ts';

// Listed as code points and not as the Unicode classes that the code uses, so that a wrong class fails the test.
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

// Characters that a person cannot see, or takes for a plain space. Listed as code points and not as the Unicode class that the code uses,
// so that a wrong class fails the test.
const UNSEEN = [
  0x00, 0x09, 0x0a, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180b, 0x180e,
  0x2000, 0x2003, 0x2009, 0x200a, 0x200b, 0x200d, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x205f, 0x2060,
  0x2064, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xffff, 0xe0001,
  0xe0041, 0xe0100,
].map((code) => String.fromCodePoint(code));

describe('escapeHidden', () => {
  it('spells out everything that is not seen', () => {
    for (const character of UNSEEN) {
      expect(escapeHidden(`a${character}b`)).toBe(`a\\u{${character.codePointAt(0)!.toString(16)}}b`);
    }
  });

  it('leaves alone what is seen', () => {
    const seen = 'Grüße, 世界! „a b“ é Ω 😀 \\ " \u0301';
    expect(escapeHidden(seen)).toBe(seen);
  });

  it('keeps line breaks where they are wanted, and no other control character', () => {
    expect(escapeHidden('a\nb\r\tc', true)).toBe('a\nb\\u{d}\\u{9}c');
  });
});

describe('toVisibleJsonString', () => {
  it('means the same text and hides nothing', () => {
    for (const character of UNSEEN) {
      const json = toVisibleJsonString(`a${character}b`);
      expect(JSON.parse(json)).toBe(`a${character}b`);
      expect(json).not.toContain(character);
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (codes) => {
        const text = String.fromCodePoint(...codes);
        expect(JSON.parse(toVisibleJsonString(text))).toBe(text);
      }),
    );
  });
});
