import { expect, it } from 'vitest';
import { summariseValue } from './summarise-value.ts';

const bomb = (): never => {
  throw new Error('bomb');
};
const HOSTILE = new Proxy(
  {},
  { get: bomb, has: bomb, ownKeys: bomb, getOwnPropertyDescriptor: bomb, getPrototypeOf: bomb },
);
const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};

it.each([
  ['null', null, { kind: 'null' }],
  ['undefined', undefined, { kind: 'undefined' }],
  ['a boolean', true, { kind: 'boolean' }],
  ['a number', 4711, { kind: 'number' }],
  ['a text', 'secret', { kind: 'string', length: 6 }],
  ['a list', ['secret', 2], { kind: 'array', length: 2 }],
  ['an object', { secret: 'secret' }, { kind: 'object' }],
  ['a function', () => 'secret', { kind: 'other' }],
  ['a symbol', Symbol('secret'), { kind: 'other' }],
  ['a bigint', 4711n, { kind: 'other' }],
  ['a proxy whose keys cannot be listed', HOSTILE, { kind: 'object' }],
  [
    'a proxy of a list whose length throws',
    new Proxy([1], { get: bomb, getOwnPropertyDescriptor: bomb }),
    { kind: 'object' },
  ],
  ['a revoked proxy', revoked({}), { kind: 'object' }],
  ['a revoked proxy of a list', revoked([]), { kind: 'object' }],
  [
    'an object with a getter for its length',
    {
      get length(): never {
        return bomb();
      },
    },
    { kind: 'object' },
  ],
])('summariseValue says of %s what it is and no more', (_what, value, summary) => {
  expect(summariseValue(value)).toStrictEqual(summary);
});

it('summariseValue says how many bytes the canonical text of an object has', () => {
  expect(summariseValue({ ä: 'ö' }, '{"ä":"ö"}')).toStrictEqual({ kind: 'object', bytes: 11 });
  expect(summariseValue(HOSTILE, '{}')).toStrictEqual({ kind: 'object', bytes: 2 });
});
