import { expect, test, it } from 'vitest';
import { randomCopy, randomText, avoidDash } from './random-text.ts';

test('the pool never returns the same bytes twice, across refills and sizes', () => {
  const seen = new Set<string>();
  const copies: [Uint8Array, string][] = [];
  for (let round = 0; round < 2_000; round += 1) {
    const copy = randomCopy(16);
    copies.push([copy, Buffer.from(copy).toString('hex')]);
    for (const text of [randomText(16, 'hex'), randomText(24, 'hex'), copies[round]![1]]) seen.add(text.slice(0, 16));
  }
  expect(seen.size).toBe(6_000);
  for (const [copy, text] of copies) expect(Buffer.from(copy).toString('hex')).toBe(text);
  expect(randomText(16, 'base64url')).toMatch(/^[\w-]{22}$/);
});

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
