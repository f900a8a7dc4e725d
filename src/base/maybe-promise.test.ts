import { expect, it } from 'vitest';
import { isThenable } from './maybe-promise.ts';

// oxlint-disable-next-line unicorn/no-thenable -- this test is about values with a method `then`
const callable = Object.assign(() => {}, { then: () => {} });

it.each([
  ['a promise', Promise.resolve(), true],
  // oxlint-disable-next-line unicorn/no-thenable -- this test is about values with a method `then`
  ['an object with a function then', { then: () => {} }, true],
  ['a function with a function then', callable, true],
  // oxlint-disable-next-line unicorn/no-thenable -- this test is about values with a member `then`
  ['an object whose then is text', { then: 'x' }, false],
  ['text', 'then', false],
  ['null', null, false],
  ['undefined', undefined, false],
])('isThenable of %s is what await would wait for', (_, value, expected) => {
  expect(isThenable(value)).toBe(expected);
});
