import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeStep, parsePointer, readPointer, readReference } from './json-pointer.ts';
import type { JsonValue } from './json.ts';

const namesOf = (text: string) => parsePointer(text)?.map(({ name }) => name);

describe('parsePointer', () => {
  it('returns the unescaped names, and none for the whole value', () => {
    expect(parsePointer('')).toEqual([]);
    expect(namesOf('/a~1b/c~0d/~01//*')).toEqual(['a/b', 'c~d', '~1', '', '*']);
  });

  it.each(['a', 'a/b', '#/a', '/a~', '/a~2b', '/~/a'])('returns undefined for %j, which is not a pointer', (text) => {
    expect(parsePointer(text)).toBeUndefined();
    expect(parsePointer(text, { every: true })).toBeUndefined();
  });

  it('reads * as every element only if asked to', () => {
    expect(parsePointer('/*', { every: true })).toEqual([{ kind: 'every' }]);
    expect(parsePointer('/*')).toEqual([{ kind: 'member', name: '*', index: -1 }]);
  });

  it.each([
    ['0', 0],
    ['10', 10],
    ['999999999', 999_999_999],
    ['1000000000', -1],
    ['01', -1],
    ['-1', -1],
    ['1.0', -1],
    ['', -1],
    ['length', -1],
  ])('gives the step %j the index %i', (name, index) => {
    expect(parsePointer(`/${name}`)).toEqual([{ kind: 'member', name, index }]);
  });

  it('undoes escapeStep for every name', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(namesOf(`/${escapeStep(name)}`)).toEqual([name]);
      }),
    );
  });
});

describe('readPointer', () => {
  const value: JsonValue = { a: [{ b: 1 }, null], 'x/y': 2, '0': 3, n: null };

  it.each<[string, JsonValue | undefined]>([
    ['', value],
    ['/a/0/b', 1],
    ['/a/1', null],
    ['/a/2', undefined],
    ['/a/00', undefined],
    ['/a/length', undefined],
    ['/a/1/b', undefined],
    ['/x~1y', 2],
    ['/0', 3],
    ['/n/b', undefined],
    ['/constructor', undefined],
  ])('reads %j', (pointer, found) => {
    expect(readPointer(value, parsePointer(pointer)!)).toEqual(found);
  });
});

describe('readReference', () => {
  const schema: JsonValue = { $defs: { 'a b': 1, 'c/d': 2, 'e~2': 3 }, allOf: [{ f: 4 }] };

  it.each<[string, JsonValue | undefined]>([
    ['#', schema],
    ['#/$defs/a%20b', 1],
    ['#/$defs/c~1d', 2],
    ['#/$defs/e~2', 3],
    ['#/allOf/0/f', 4],
    ['#/$defs/%', undefined],
    ['#/$defs/none', undefined],
    ['#anchor', undefined],
    ['other.json#/$defs', undefined],
  ])('reads %j', (reference, found) => {
    expect(readReference(schema, reference)).toEqual(found);
  });
});
