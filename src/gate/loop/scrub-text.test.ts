import { hash, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scrubText } from './scrub-text.ts';

const volatile: readonly (readonly [string, string, string])[] = [
  ['a UUID', `id ${randomUUID()} done`, `id ${randomUUID().toUpperCase()} done`],
  ['16 hex digits', '<data id="a1b2c3d4e5f6a7b8">x</data>', '<data id="00ffc3d4e5f6a7b9">x</data>'],
  ['a SHA-256', `at ${randomBytes(32).toString('hex')}`, `at ${randomBytes(32).toString('hex')}`],
  ['an ISO time', 'seen 2026-11-15T10:00:00.123Z.', 'seen 2026-11-15T10:00:07Z.'],
  ['an ISO time with a zone', 'seen 2026-11-15T10:00:00+01:00', 'seen 2026-11-15T11:59:59+01:00'],
  ['a time of day', 'Sun Nov 15 10:00:00 UTC 2026', 'Sun Nov 15 10:01:42 UTC 2026'],
  ['seconds since 1970', 'ts=1763200000', 'ts=1763200009'],
  ['the time a chat gives its messages', 'ts 1763200000.123456', 'ts 1763200100.000001'],
  ['milliseconds since 1970', '{"at":1763200000123}', '{"at":1763200000999}'],
  ['a time after a colon', 'at:1763200000, next', 'at:1763200007, next'],
  ['a duration', 'done in 350ms', 'done in 12ms'],
  ['a duration with a space', 'took 12.5 ms, 3 files', 'took 9 ms, 3 files'],
  ['a duration in seconds', 'finished after 3 seconds', 'finished after 14 seconds'],
  ['microseconds', 'in 12 µs', 'in 9 µs'],
  ['a duration with minutes', 'ran 1m23.5s', 'ran 2m01s'],
  ['a process id', 'started (pid 4711)', 'started (pid 81)'],
  ['a process id as JSON', '{"pid": 4711}', '{"pid": 12}'],
  ['an id of 17 digits', 'order 10000000000000017 sent', 'order 98765432109876543 sent'],
  ['an id of 20 digits', 'order 12345678901234567890 sent', 'order 18446744073709551615 sent'],
  ['a ULID', 'as 01ARZ3NDEKTSV4RRFFQ69G5FAV.', 'as 01BX5ZZKBKACTAV9WEVGEMMVRZ.'],
  ['a ULID with few digits', 'as 01KKKKKKKKMMMMMMMMNNNNNNNN.', 'as 01kkkkkkkkmmmmmmmmnnnnnnnn.'],
  ['a random token', 'nonce V1StGXR8Z5jdHi6BmyT4s', 'nonce 8Uakg7Kq0Lr5PzW3xYbN2'],
];
const lasting: readonly (readonly [string, string, string])[] = [
  ['a number', '41 of 120 done', '42 of 120 done'],
  ['a price', 'costs 12.50', 'costs 12.75'],
  ['a count of bytes', 'read 1400000000 bytes', 'read 1500000000 bytes'],
  ['a number of 16 digits', 'card 4111111111111111', 'card 4111111111111112'],
  ['a number of 21 digits', 'is 123456789012345678901', 'is 123456789012345678902'],
  ['a date', 'due 2026-11-15', 'due 2026-11-16'],
  ['an appointment', 'at 10:30', 'at 11:30'],
  ['a port', 'listens on 127.0.0.1:8080', 'listens on 127.0.0.1:8081'],
  ['a version', 'sallyport 1.2.3', 'sallyport 1.2.4'],
  ['a short commit', 'HEAD is 3f91f6a', 'HEAD is cc00885'],
  ['a file name', 'quarterly-report-2026-final-v2.md', 'quarterly-report-2026-final-v3.md'],
  ['a long name in camel case', 'resolveDefaultAccountSettings', 'resolveDefaultAccountSettingz'],
  ['a name of a class', 'XMLHttpRequestURLParserFactory', 'XMLHttpRequestURLParserFactorz'],
  ['a constant', 'MAXIMUM_RESULT_BYTES_2', 'MAXIMUM_RESULT_BYTES_3'],
  ['a numbered test', 'integration-test-suite-17', 'integration-test-suite-18'],
  ['days and hours', 'expires in 3 days', 'expires in 2 days'],
  ['minutes that are left', 'ETA 5 minutes', 'ETA 4 minutes'],
  ['a word that ends in pid', 'rapid 5', 'rapid 6'],
  ['words', 'Nothing new.', 'Something new.'],
];

describe('scrubText', () => {
  test.each(volatile)('takes out %s', (_what, one, other) => {
    expect(scrubText(one)).toBe(scrubText(other));
    expect(scrubText(one)).not.toBe(one);
  });

  test.each(lasting)('keeps %s', (_what, one, other) => {
    expect([scrubText(one), scrubText(other)]).toStrictEqual([one, other]);
  });

  test('takes out tokens in base64url, with any first and last letter', () => {
    const tokens = Array.from({ length: 2000 }, (_, index) =>
      hash('sha256', `${index}`, 'base64url').slice(0, 20 + (index % 24)),
    );
    const kept = tokens.filter((token) => scrubText(`nonce ${token}, next`) !== 'nonce \u0001, next');
    // A few of the random tokens look like names and are therefore kept.
    expect(kept.length).toBeLessThan(10);
  });

  test('leaves the words around it, and where something was', () => {
    expect(scrubText('a 350ms b 2026-11-15T10:00:00Z.')).toBe('a \u0001 b \u0001.');
    expect(scrubText('a b')).not.toBe(scrubText('a 5ms b'));
  });

  test('takes any text, and line by line the same as all at once', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 30 }), (one, other) => {
        expect(scrubText(`${one} \n ${other}`)).toBe(`${scrubText(one)} \n ${scrubText(other)}`);
      }),
    );
  });
});
