import { expect, test } from 'vitest';
import { signatureOf } from './signature.ts';

test('signatureOf always gives eight letters', () => {
  for (const text of ['', 'short', 'x'.repeat(40_000), 'ünïcödé!', '\uD800']) {
    expect(signatureOf(text)).toMatch(/^[\w-]{8}$/);
  }
});
