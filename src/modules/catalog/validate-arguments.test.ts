import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMON_BAD_INPUT, CORPUS_SCHEMA } from '../../../test/fixtures/bad-input/common.ts';
import type { JsonObject } from '../../base/json.ts';
import { compileSchema, createValidatorCache, MAX_PROBLEMS } from './validate-arguments.ts';

const problemsOf = (schema: JsonObject, value: unknown): string[] => compileSchema(schema)(value);

describe('compileSchema', () => {
  const validateCorpus = compileSchema(CORPUS_SCHEMA);
  for (const row of COMMON_BAD_INPUT) {
    if (row.answer !== 'schema' || row.input.kind !== 'text') continue;
    const { text } = row.input;
    it(`refuses ${row.id}: ${row.what}`, () => {
      expect(validateCorpus(JSON.parse(text))).not.toStrictEqual([]);
    });
  }

  for (const row of COMMON_BAD_INPUT.filter(({ id }) => ['C36', 'C37', 'C38', 'C39'].includes(id))) {
    const { input } = row;
    it(`takes ${row.id} as data: ${row.what}`, () => {
      expect(input.kind === 'text' && validateCorpus(JSON.parse(input.text))).toStrictEqual([]);
    });
  }

  const cases: readonly [what: string, schema: JsonObject, value: unknown, problems: string[]][] = [
    ['a missing field', { required: ['a'] }, {}, ['a: is missing']],
    [
      'a deep missing field',
      { properties: { l: { items: { required: ['a'] } } } },
      { l: [{ a: 1 }, {}] },
      ['l[1].a: is missing'],
    ],
    ['an unknown field', { properties: { a: {} }, additionalProperties: false }, { b: 1 }, ['b: is not a known field']],
    [
      'a field that needs escaping',
      { additionalProperties: false },
      { '\u001b[2J': 1 },
      ['["\\u001b[2J"]: is not a known field'],
    ],
    ['a wrong type', { properties: { a: { type: ['string', 'null'] } } }, { a: 1 }, ['a: must be string or null']],
    ['a wrong root', { type: 'object' }, [], ['value: must be object']],
    ['a wrong choice', { properties: { a: { enum: ['x', 'y'] } } }, { a: 'secret' }, ['a: must be one of "x", "y"']],
    ['a wrong constant', { properties: { a: { const: 1 } } }, { a: 'secret' }, ['a: must be 1']],
    ['an inherited name', { required: ['toString'] }, {}, ['toString: is missing']],
    [
      'the same item twice',
      { properties: { a: { uniqueItems: true } } },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      ['a: must not have the same item twice'],
    ],
    [
      'several problems',
      { properties: { a: { type: 'string' }, b: { type: 'string' } } },
      { a: 1, b: 2 },
      ['a: must be string', 'b: must be string'],
    ],
  ];
  it.each(cases)('names %s and no value', (_what, schema, value, problems) => {
    expect(problemsOf(schema, value)).toStrictEqual(problems);
  });

  it('fills in nothing and converts nothing', () => {
    const value = { a: '1' };
    problemsOf({ properties: { a: { type: 'number' }, b: { default: 1 } } }, value);
    expect(value).toStrictEqual({ a: '1' });
  });

  it('reports a bounded number of problems, of large values the first only', () => {
    const schema = { items: { type: 'string' } };
    expect(
      problemsOf(
        schema,
        Array.from({ length: 100 }, () => 1),
      ),
    ).toHaveLength(MAX_PROBLEMS);
    expect(
      problemsOf(
        schema,
        Array.from({ length: 90_000 }, () => 1),
      ),
    ).toStrictEqual(['[0]: must be string']);
  });

  it('knows draft-07 by its $schema and 2020-12 without one', () => {
    const tuple = { items: [{ type: 'string' }] };
    const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#', ...tuple };
    expect(problemsOf(draft07, [1])).toStrictEqual(['[0]: must be string']);
    expect(() => compileSchema(tuple)).toThrow(/items/);
    expect(problemsOf({ prefixItems: [{ type: 'string' }] }, [1])).toStrictEqual(['[0]: must be string']);
  });

  it('follows local references of every kind', () => {
    const schema = {
      $id: 'https://example.com/own',
      $defs: { 'a/b': { type: 'string' }, named: { $anchor: 'here', type: 'number' } },
      properties: { p: { $ref: '#/$defs/a~1b' }, q: { $ref: '#here' }, child: { $ref: '#' } },
    };
    expect(problemsOf(schema, { p: 'x', q: 1, child: { p: 'y' } })).toStrictEqual([]);
    expect(problemsOf(schema, { child: { child: { p: 1 } } })).toStrictEqual(['child.child.p: must be string']);
    expect(problemsOf(schema, { q: 'x' })).toStrictEqual(['q: must be number']);
  });

  it('compiles one schema after another with the same $id', () => {
    const withType = (type: string): JsonObject => ({ $id: 'https://example.com/same', type });
    expect(problemsOf(withType('string'), 'x')).toStrictEqual([]);
    expect(problemsOf(withType('number'), 'x')).toStrictEqual(['value: must be number']);
  });

  it('keeps several patterns apart', () => {
    const schema = {
      properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } },
      patternProperties: { '^n': { type: 'number' } },
    };
    expect(problemsOf(schema, { a: 'aa', b: 'bb', n1: 1 })).toStrictEqual([]);
    expect(problemsOf(schema, { a: 'bb' })).toHaveLength(1);
    expect(problemsOf(schema, { b: 'aa' })).toHaveLength(1);
    expect(problemsOf(schema, { n1: 'x' })).toStrictEqual(['n1: must be number']);
  });

  it('gives up on references that fan out instead of following 2^40 of them', () => {
    const $defs: JsonObject = { d0: { type: 'object' } };
    for (let level = 1; level <= 40; level += 1) {
      const previous = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { allOf: [previous, previous] };
    }
    expect(problemsOf({ $defs, $ref: '#/$defs/d40' }, {})).toStrictEqual(['value: is too complex to be checked']);
  });

  it('gives up on recursion that doubles with each level of the value', () => {
    const child = { properties: { c: { $ref: '#' } } };
    const schema = { anyOf: [{ ...child, required: ['never'] }, { ...child, required: ['nowhere'] }, {}] };
    const deep = JSON.parse(`${'{"c":'.repeat(63)}{}${'}'.repeat(63)}`) as unknown;
    expect(problemsOf(schema, deep)).toStrictEqual([]);
    expect(problemsOf({ ...schema, anyOf: schema.anyOf.slice(0, 2) }, deep)).toStrictEqual([
      'value: is too complex to be checked',
    ]);
  });

  it('takes every string schema zod writes', () => {
    const schema = z.toJSONSchema(
      z
        .object({
          mail: z.email(),
          at: z.iso.datetime(),
          span: z.iso.duration(),
          host: z.hostname(),
          face: z.emoji(),
          url: z.url(),
        })
        .partial(),
    ) as JsonObject;
    const validate = compileSchema(schema);
    expect(
      validate({
        mail: 'a@b.example',
        at: '2026-01-01T00:00:00Z',
        span: 'P1D',
        host: 'a.example',
        face: '🙂',
        url: 'https://a.example',
      }),
    ).toStrictEqual([]);
    for (const wrong of [{ mail: 'a' }, { at: 'x' }, { span: 'P' }, { host: '-' }, { url: ':' }])
      expect(validate(wrong)).not.toStrictEqual([]);
  });
});

describe('createValidatorCache', () => {
  it('compiles once per digest and forgets the least recently used', () => {
    const cache = createValidatorCache(2 * JSON.stringify({ type: 'string' }).length);
    const first = cache.validatorOf('a', { type: 'string' });
    cache.validatorOf('b', { type: 'string' });
    expect(cache.validatorOf('a', { type: 'number' })).toBe(first);
    cache.validatorOf('c', { type: 'string' });
    expect(cache.size).toBe(2);
    expect(cache.validatorOf('a', { type: 'number' })).toBe(first);
    expect(cache.validatorOf('b', { type: 'number' })('x')).toStrictEqual(['value: must be number']);
  });

  it('keeps as many as their schemas leave room for, and the newest in any case', () => {
    const cache = createValidatorCache(1000);
    for (let index = 0; index < 10; index += 1) cache.validatorOf(`small-${index}`, { type: 'string' });
    expect(cache.size).toBe(10);
    const large = { description: 'x'.repeat(900) };
    const kept = cache.validatorOf('large', large);
    expect(cache.size).toBeLessThan(10);
    expect(cache.validatorOf('large', { type: 'number' })).toBe(kept);
    cache.validatorOf('larger', { description: 'x'.repeat(2000) });
    expect(cache.size).toBe(1);
    cache.validatorOf('small', { type: 'string' });
    expect(cache.size).toBe(1);
  });

  it('closes a tool whose schema does not compile', () => {
    expect(createValidatorCache().validatorOf('x', { $ref: 'https://example.com' })({})).toStrictEqual([
      'the schema of this tool cannot be used',
    ]);
  });
});
