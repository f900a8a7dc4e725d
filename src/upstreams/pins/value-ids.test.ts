import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonValue } from '../../base/json.ts';
import { ValueIds } from './value-ids.ts';

describe('the ids of values', () => {
  it('are equal exactly if the values have the same canonical JSON', () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (values) => {
        const ids = new ValueIds();
        for (const one of values) {
          for (const other of values)
            expect(ids.idOf(one) === ids.idOf(other)).toBe(canonicalJson(one) === canonicalJson(other));
        }
      }),
    );
  });

  it.each<[JsonValue, JsonValue, boolean]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [['1,2'], ['1', '2'], false],
    [['#0'], [[]], false],
    [[], {}, false],
    [{ a: [] }, { 'a:[]': 1 }, false],
    [{ 'a:1,b': 2 }, { a: 1, b: 2 }, false],
    ['1', 1, false],
    [null, 'null', false],
    [-0, 0, true],
  ])('of %j and %j', (one, other, isSame) => {
    const ids = new ValueIds();
    expect(ids.idOf(one) === ids.idOf(other)).toBe(isSame);
    expect(ids.idOf([one]) === ids.idOf([other])).toBe(isSame);
  });

  it('exist for values of any depth', () => {
    const nest = (leaf: JsonValue): JsonValue => {
      let value = leaf;
      for (let depth = 0; depth < 5000; depth += 1) value = [value];
      return value;
    };
    const ids = new ValueIds();
    expect(ids.idOf(nest(1))).toBe(ids.idOf(nest(1)));
    expect(ids.idOf(nest(1))).not.toBe(ids.idOf(nest(2)));
  });
});
