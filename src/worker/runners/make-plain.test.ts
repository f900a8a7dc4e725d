import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { makePlain, SizeBudget } from './make-plain.ts';

const plain = (value: unknown, limit = 1_000_000): unknown => makePlain(value, new SizeBudget(limit));
const cyclic: Record<string, unknown> = { a: [] };
cyclic['a'] = [cyclic];
class Money {
  readonly cents = 5;
}
const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) });

describe('makePlain', () => {
  const kept: readonly (readonly [string, unknown, unknown])[] = [
    ['JSON', { a: [1, 'x', null, true, { b: 2.5 }] }, { a: [1, 'x', null, true, { b: 2.5 }] }],
    ['a Date as ISO text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['-0 as 0', [-0], [0]],
    ['an object without its undefined properties', { a: undefined, b: 1 }, { b: 1 }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      'an object of another realm',
      runInNewContext('({ a: [1], at: new Date(0) })'),
      { a: [1], at: '1970-01-01T00:00:00.000Z' },
    ],
    ['an object that occurs twice, but not in itself', [Money.name, [1], [1]], ['Money', [1], [1]]],
    ['64 levels', nested(64), nested(64)],
  ];
  test.each(kept)('keeps %s', (_what, value, expected) => {
    const copy = plain(value);
    expect(copy).toEqual(expected);
    expect(JSON.parse(JSON.stringify(copy))).toEqual(expected);
  });

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['a function', { a: { b: [() => 1] } }, '$.a.b[0] is a function'],
    ['a symbol', Symbol('x'), '$ is a symbol'],
    ['a BigInt', { n: 1n }, '$.n is a bigint'],
    ['NaN', [Number.NaN], '$[0] is NaN'],
    ['Infinity', -Infinity, '$ is -Infinity'],
    ['a hole in a list', Array.from<number>({ length: 2 }).fill(1, 0, 1), '$[1] is undefined'],
    ['a Map', { m: new Map() }, '$.m is an instance of Map'],
    ['a Set', new Set([1]), 'an instance of Set'],
    ['an Error', new Error('x'), 'an instance of Error'],
    ['a class instance', [new Money()], '$[0] is an instance of Money'],
    ['an invalid Date', new Date(Number.NaN), '$ is an invalid Date'],
    ['bytes', { raw: Buffer.from('x') }, '$.raw is binary data; use image()'],
    ['a cycle', cyclic, '$.a[0] contains itself'],
    ['65 levels', nested(65), 'nested deeper than 64'],
    ['half a surrogate pair', { t: 'a\uD800' }, '$.t contains half a surrogate pair'],
    ['a __proto__ key', JSON.parse('{"__proto__":{"admin":true}}'), 'is a key that is not allowed'],
    ['a toJSON function', { toJSON: () => ({}) }, '$.toJSON is a function'],
    [
      'a getter that throws',
      {
        ok: 1,
        get bad(): never {
          throw new Error('secret');
        },
      },
      'reading $.bad threw',
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('secret');
          },
        },
      ),
      'reading $ threw',
    ],
    ['an odd key', { 'a b"': 1n }, '$["a b\\""] is a bigint'],
  ];
  test.each(refused)('refuses %s with its path', (_what, value, problem) => {
    expect(() => plain(value)).toThrow(
      expect.objectContaining({ name: 'NotPlain', message: expect.stringContaining(problem) }),
    );
  });

  test('does not end in a getter that makes a new object each time', () => {
    const endless = (): object => ({
      get in(): object {
        return endless();
      },
    });
    expect(() => plain(endless())).toThrow('nested deeper');
  });

  test('stops counting at the limit instead of copying everything', () => {
    let read = 0;
    const million = new Proxy(
      Array.from({ length: 1_000_000 }, () => 'abcdefghi'),
      {
        get: (target, key) => (key === 'length' ? target.length : ((read += 1), Reflect.get(target, key))),
      },
    );
    expect(() => plain(million, 1000)).toThrow(expect.objectContaining({ name: 'TooLarge', limit: 1000 }));
    expect(read).toBeLessThan(200);
  });

  test('gives a copy that later changes do not reach', () => {
    const original = { list: [1] };
    const copy = plain(original);
    original.list.push(2);
    expect(copy).toEqual({ list: [1] });
  });
});
