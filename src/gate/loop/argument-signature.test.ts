import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { argumentSignatures, targetSignature } from './argument-signature.ts';

const of = (args: JsonObject, changed?: string) => argumentSignatures({ id: 'a.b' }, args, changed);

describe('argumentSignatures', () => {
  const volatile: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['a UUID', { text: 'x', run: randomUUID() }, { text: 'x', run: randomUUID() }],
    ['a ULID', { mark: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, { mark: '01BX5ZZKBKACTAV9WEVGEMMVRZ' }],
    ['a random text', { mark: randomBytes(18).toString('hex') }, { mark: randomBytes(18).toString('hex') }],
    ['a UUID in a text', { query: `weather #${randomUUID()}` }, { query: `weather #${randomUUID()}` }],
    ['a time', { seen: '2026-11-15T10:00:00Z' }, { seen: '2026-11-15T10:00:09Z' }],
    ['milliseconds since 1970', { x: 1_763_200_000_123 }, { x: 1_763_200_000_999 }],
    ['seconds since 1970 under their name', { time: 1_763_200_000 }, { time: 1_763_200_009 }],
    ['a number of 17 digits', { mark: 10_000_000_000_000_016 }, { mark: 98_765_432_109_876_544 }],
    ['a counter called nonce', { nonce: 1 }, { nonce: 2 }],
    [
      'request and trace ids',
      { requestId: 'a', trace_id: 1, 'x-request-id': 'b' },
      { requestId: 'c', trace_id: 2, 'x-request-id': 'd' },
    ],
    ['a process id', { pid: 4711 }, { pid: 81 }],
    ['a nonce in a list of objects', { tries: [{ nonce: 'a' }] }, { tries: [{ nonce: 'b' }] }],
    [
      'a nonce in an address',
      { url: 'https://x.test/health?ts=1&page=2' },
      { url: 'https://x.test/health?ts=2&page=2' },
    ],
  ];
  test.each(volatile)('are the same for another %s', (_what, one, other) => {
    expect(of(one)).toStrictEqual({ effective: expect.stringMatching(/^[\w-]{8}$/), hasVolatile: true });
    expect(of(other)).toStrictEqual(of(one));
  });

  const lasting: readonly (readonly [string, JsonObject])[] = [
    ['a page', { query: 'x', page: 7 }],
    ['a cursor', { cursor: randomBytes(18).toString('base64url') }],
    ['an id, however random', { id: randomUUID(), contactId: randomUUID(), user_ids: [randomUUID()] }],
    [
      'a path and an address',
      { path: `/tmp/${randomUUID()}`, url: `https://x.test/items/${randomUUID()}?id=${randomUUID()}` },
    ],
    ['the ends of a range', { from: '2026-11-15T10:00:00Z', to: 1_763_200_000_123 }],
    ['a commit', { sha: randomBytes(20).toString('hex') }],
    ['small numbers, dates and words', { count: 5, due: '2026-11-15', text: 'again', deep: { list: [1, null, true] } }],
    ['a long text', { text: `${randomUUID()} `.repeat(1000) }],
  ];
  test.each(lasting)('are those of the caller for %s', (_what, args) => {
    expect(of(args)).toStrictEqual({ hasVolatile: false });
  });

  test('distinguish calls that differ in more than volatile values', () => {
    const signatures = ['a', 'b'].flatMap((text) =>
      [1, '1', true, [1]].map((value) => of({ text, value, nonce: randomUUID() }).effective),
    );
    expect(new Set(signatures).size).toBe(8);
    expect(argumentSignatures({ id: 'a.c' }, { nonce: 1 }, undefined)).not.toStrictEqual(of({ nonce: 1 }));
  });

  test('are those of the changed text where a hook has changed it, and nothing in it is volatile', () => {
    const changed = '{"text":"x"}';
    expect(of({ text: 'x' }, changed)).toStrictEqual({
      effective: bodyDigest('a.b', changed).slice(0, 8),
      hasVolatile: false,
    });
    expect(of({ text: 'x', nonce: 5 }, '{"nonce":5,"text":"x"}')).toStrictEqual(of({ nonce: 6, text: 'x' }));
  });
});

describe('targetSignature', () => {
  const tool = { id: 'files.write', effect: 'idempotent' } as const;
  const target = (args: JsonObject) => targetSignature(tool, args, 11);

  test('names the target of a write, for any contents', () => {
    expect(target({ path: 'a', text: 'x' })).toMatch(/^[\w-]{8}$/);
    expect(target({ path: 'a', text: 'x' })).toBe(target({ path: 'a', text: 'y', mode: 1 }));
    expect(target({ path: 'a', text: 'x' })).not.toBe(target({ path: 'b', text: 'x' }));
  });

  test('is not there without a target or contents, for a tool that only reads, and for the first calls of a tool', () => {
    expect([target({ text: 'x' }), target({ path: 'a' }), target({ path: 'a', nonce: 5 })]).toStrictEqual(
      Array(3).fill(undefined),
    );
    const args = { path: 'a', text: 'x' };
    expect(targetSignature({ ...tool, effect: 'read' }, args, 11)).toBeUndefined();
    expect(targetSignature({ id: 'files.write' }, args, 11)).toBeUndefined();
    expect(targetSignature(tool, args, 10)).toBeUndefined();
  });
});
