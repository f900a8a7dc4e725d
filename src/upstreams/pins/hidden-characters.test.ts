import { describe, expect, it } from 'vitest';
import { countHidden, showText } from './hidden-characters.ts';

describe('hidden characters', () => {
  it.each([
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b', 'a zero-width character'],
    ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b', 'a bidirectional control'],
    ['a tag letter', 'a\u{e0041}b', 'a\\u{e0041}b', 'a tag character'],
    ['an escape', 'a\u001b[2Jb', 'a\\u{1b}[2Jb', 'a control character'],
    ['a no-break space', 'a\u00a0b', 'a\\u{a0}b', 'a blank that is not a plain space'],
    ['an empty Braille cell', 'a\u2800b', 'a\\u{2800}b', 'a blank that is not a plain space'],
    ['a lone variation selector', 'a\ufe0fb', 'a\\u{fe0f}b', 'a variation selector'],
    ['a private character', 'a\ue000b', 'a\\u{e000}b', 'an invisible character'],
    ['a byte order mark', 'a\ufeffb', 'a\\u{feff}b', 'a zero-width character'],
  ])('%s is shown and named', (_, text, expected, what) => {
    expect(showText(text)).toBe(expected);
    expect(countHidden(text)).toStrictEqual([{ what, count: 1 }]);
  });

  it('are counted by kind', () => {
    expect(countHidden('\u200b\u202e\u200d\u200b')).toStrictEqual([
      { what: 'a zero-width character', count: 3 },
      { what: 'a bidirectional control', count: 1 },
    ]);
  });

  it('are not tabs, line breaks, letters with marks or emoji', () => {
    expect(countHidden('a\tb\nc\r\nd é ü 漢字 😀 עברית')).toStrictEqual([]);
    expect(countHidden('a\rb')).toStrictEqual([{ what: 'a control character', count: 1 }]);
  });

  it('cannot be imitated by a text that contains an escape', () => {
    expect(showText('\\u{200b}')).toBe('\\u{5c}u{200b}');
    expect(showText('\\u{200b}')).not.toBe(showText('\u200b'));
  });
});
