import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { codeOf, signatureOf } from './signature.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('codeOf gives different signatures different numbers, exactly', () => {
  const signatures = new Set(Array.from({ length: 20_000 }, () => randomBytes(6).toString('base64url')));
  for (let place = 0; place < 8; place += 1) {
    for (const letter of LETTERS) signatures.add(`${'A'.repeat(place)}${letter}${'z'.repeat(7 - place)}`);
  }
  const codes = new Set(Array.from(signatures, codeOf));
  expect(codes.size).toBe(signatures.size);
  expect([...codes].every((code) => Number.isSafeInteger(code) && code >= 0)).toBe(true);
});

test('codeOf takes what is no signature, and signatureOf always gives eight letters', () => {
  for (const text of ['', 'short', 'x'.repeat(500), 'ünïcödé!', '\uD800']) {
    expect(Number.isNaN(codeOf(text))).toBe(false);
    expect(signatureOf(text)).toMatch(/^[\w-]{8}$/);
  }
});
