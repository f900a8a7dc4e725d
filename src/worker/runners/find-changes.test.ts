import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { findChanges } from './find-changes.ts';

describe('findChanges', () => {
  it('finds none in a copy, nor in members that are undefined', () => {
    expect(findChanges({ a: [1, { b: null }] }, { a: [1, { b: null }], c: undefined })).toEqual([]);
    expect(findChanges({}, Object.create(null))).toEqual([]);
  });

  it.each<[JsonValue, unknown, string[]]>([
    [{ a: ' X' }, { a: 'x' }, ['a: changed']],
    [{ a: { b: 1 }, c: 2 }, { a: { b: 2 } }, ['a.b: changed', 'c: removed']],
    [{ a: 1 }, { a: 1, b: 0 }, ['b: added']],
    [{ a: [1, 2] }, { a: [1] }, ['a: changed']],
    [{ a: null }, { a: undefined }, ['a: removed']],
    [{ a: '5' }, { a: 5 }, ['a: changed']],
    [{ 'a b\n': 1 }, {}, ['"a b\\n": removed']],
    [{}, 'text', ['value: changed']],
    [{ n: 1 }, { n: Number.NaN }, ['n: changed']],
  ])('of %j and %j are %j', (judged, parsed, changes) => {
    expect(findChanges(judged, parsed)).toEqual(changes);
  });

  it('are found where JSON would write the same text: dates, maps, instances, inherited members', () => {
    const text = '2026-01-01T00:00:00.000Z';
    expect(findChanges({ at: text }, { at: new Date(text) })).toEqual(['at: changed']);
    expect(findChanges({ at: {} }, { at: new Map() })).toEqual(['at: changed']);
    expect(findChanges({ at: {} }, { at: new (class Some {})() })).toEqual(['at: changed']);
    expect(findChanges({ a: 1 }, Object.create({ a: 1 }))).toEqual(['value: changed']);
  });

  it('agrees with canonical JSON on every pair of JSON values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
        const [a, b] = [JSON.parse(JSON.stringify(one)) as JsonValue, JSON.parse(JSON.stringify(other)) as JsonValue];
        expect(findChanges(a, structuredClone(a))).toEqual([]);
        expect(findChanges(a, b).length === 0).toBe(canonicalJson(a) === canonicalJson(b));
      }),
    );
  });
});
