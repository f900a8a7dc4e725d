import { expect, it } from 'vitest';
import { avoidDash } from './avoid-dash.ts';

it('random text never begins with a dash, and other text is not changed', () => {
  const texts = Array.from({ length: 256 }, (_, first) => {
    const bytes = Buffer.from([9, first, 7, 7]);
    const before = bytes.toString('base64url', 1);
    avoidDash(bytes, 1);
    return { before, after: bytes.toString('base64url', 1) };
  });
  expect(texts.filter(({ after }) => after.startsWith('-'))).toStrictEqual([]);
  expect(texts.filter(({ before, after }) => before !== after).every(({ before }) => before.startsWith('-'))).toBe(
    true,
  );
});
