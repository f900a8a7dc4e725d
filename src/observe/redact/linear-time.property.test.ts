import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../base/canonical-json.ts';
import { createRedactor } from './create-redactor.ts';
import { findAssignments } from './find-assignments.ts';
import { findCredentials } from './find-credentials.ts';
import { maskText } from './mask-text.ts';
import { mayHoldSecret } from './may-hold-secret.ts';
import { newRedactionKey } from './redaction-key.ts';

const redactor = createRedactor(newRedactionKey());

/** Beginnings of everything that the scanners look for. A text that repeats one of them makes a scanner start a search at every place. */
const BITS = [
  'sk-', 'ghp_', 'eyJ', 'eyJ.', 'eyJaaaaaaaa.', '-----BEGIN PRIVATE KEY-----', '-----BEGIN ', '-----END ', '://', '://a:', '@',
  'password', 'password=', 'password:', 'password: ', '"password":"', '\\"password\\":\\"', '--token ', '-u ', '-u a', ':', '=', ' ',
  '\t', 'Bearer ', 'authorization: ', 'cookie: ', 'secret:', '${secret:', 'mysql ', ' -p', 'sshpass -p', '1', '12345678:AA', 'AKIA',
  'a', 'A', '_', '-', '.', '"', "'", '\\', '\n', 'key', 'api', 'token', 'é', '😀',
]; // prettier-ignore

const hostile = fc.array(fc.constantFrom(...BITS), { minLength: 1, maxLength: 4 }).map((bits) => bits.join(''));

describe('redaction of hostile text', () => {
  // A scanner that takes quadratic time would not finish this much text before the timeout of the test.
  it('is done with 300,000 characters of any text that starts a search', () => {
    fc.assert(
      fc.property(hostile, (bit) => {
        const text = bit.repeat(Math.ceil(300_000 / bit.length));
        expect(maskText(text, () => '[secret]')).toBeDefined();
        expect(maskText(`${text}!`, () => '[secret]')).toBeDefined();
      }),
      { numRuns: 150, examples: BITS.map((bit) => [bit]) },
    );
  });

  it('never skips the closer look where a scanner would find something', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...BITS, 'hunter2', 'abcdefgh12345678ijkl'), { maxLength: 12 }), (bits) => {
        const text = bits.join('');
        const isFound = findCredentials(text).length + findAssignments(text).length > 0;
        expect({ text, skipped: isFound && !mayHoldSecret(text) }).toStrictEqual({ text, skipped: false });
      }),
      { numRuns: 5000 },
    );
  });

  it('leaves arguments JSON, and a second time unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'token', 'note'), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const canonical = canonicalJson(JSON.parse(JSON.stringify(value)));
        const once = redactor.arguments(canonical);
        if (once.length >= 1000) return;
        expect(() => JSON.parse(once) as unknown).not.toThrow();
        expect(redactor.arguments(once)).toBe(once);
      }),
    );
  });
});
