import { expect, it } from 'vitest';
import { avoidDash } from './avoid-dash.ts';

it('random text never begins with a dash, and other text is not changed', () => {
  for (let first = 0; first < 256; first += 1) {
    const bytes = Buffer.from([9, first, 7, 7]);
    const before = bytes.toString('base64url', 1);
    avoidDash(bytes, 1);
    const after = bytes.toString('base64url', 1);
    expect(after.startsWith('-')).toBe(false);
    if (!before.startsWith('-')) expect(after).toBe(before);
  }
});
