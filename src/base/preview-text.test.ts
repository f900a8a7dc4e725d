import { describe, expect, it } from 'vitest';
import { PREVIEW_CHARACTERS, previewOf } from './preview-text.ts';

describe('the preview of arguments', () => {
  it('is the text itself when that is short', () => {
    const text = 'x'.repeat(PREVIEW_CHARACTERS);
    expect(previewOf(text)).toEqual({ text, cut: 0 });
  });

  it('is the beginning of a long text, and says how much is left out', () => {
    expect(previewOf('x'.repeat(PREVIEW_CHARACTERS + 5))).toEqual({ text: 'x'.repeat(PREVIEW_CHARACTERS), cut: 5 });
  });

  it('ends before a mark or a pair of surrogates that would be cut in two', () => {
    const before = 'x'.repeat(PREVIEW_CHARACTERS - 10);
    const mark = '[secret ab12, 20 characters]';
    expect(previewOf(`${before}${mark} and more`)).toEqual({ text: before, cut: mark.length + 9 });
    const pair = `${'x'.repeat(PREVIEW_CHARACTERS - 1)}\u{1F600}y`;
    expect(previewOf(pair)).toEqual({ text: 'x'.repeat(PREVIEW_CHARACTERS - 1), cut: 3 });
    const whole = `${mark}${'x'.repeat(PREVIEW_CHARACTERS)}`;
    expect(previewOf(whole).text.startsWith(mark)).toBe(true);
    expect(previewOf(whole).text).toHaveLength(PREVIEW_CHARACTERS);
  });
});
