import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { copyJson } from './copy-json.ts';

test('copyJson gives an equal value that shares nothing', () => {
  const original: JsonObject = { a: [1, { b: null }], c: 'x', d: true };
  const copy = copyJson(original);
  expect(copy).toEqual(original);
  (original['a'] as JsonObject[])[1]!['b'] = 2;
  expect(copy).toEqual({ a: [1, { b: null }], c: 'x', d: true });
});

test('copyJson does not let a key named __proto__ become the prototype', () => {
  const copy = copyJson(JSON.parse('{"__proto__":{"admin":true}}') as JsonObject);
  expect(copy['admin']).toBeUndefined();
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(Object.keys(copy)).toEqual(['__proto__']);
});
