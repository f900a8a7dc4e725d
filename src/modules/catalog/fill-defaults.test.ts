import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deriveJsonSchema } from '../authoring/json-schema.ts';
import type { JsonObject } from '../../base/json.ts';
import { compileDefaults } from './fill-defaults.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

describe('compileDefaults', () => {
  it('has nothing to do for a schema without defaults, and gives back what is complete as it is', () => {
    expect(compileDefaults(object({ a: { type: 'string' } }))).toBeUndefined();
    const whole = { a: 1 };
    expect(compileDefaults(object({ a: { default: 1 } }))!(whole)).toBe(whole);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['a missing member', object({ a: { default: 'x' } }), {}, { a: 'x' }],
    ['not one that is null', object({ a: { default: 'x' } }), { a: null }, { a: null }],
    ['null', object({ a: { default: null } }), {}, { a: null }],
    ['inside what is there', object({ a: object({ b: { default: 1 } }) }), { a: {} }, { a: { b: 1 } }],
    ['not inside what is missing', object({ a: object({ b: { default: 1 } }) }), {}, {}],
    ['inside a default', object({ a: { ...object({ b: { default: 1 } }), default: {} } }), {}, { a: { b: 1 } }],
    [
      'in items',
      object({ a: { items: object({ b: { default: 1 } }) } }),
      { a: [{}, { b: 2 }] },
      { a: [{ b: 1 }, { b: 2 }] },
    ],
    [
      'in a tuple',
      object({ a: { prefixItems: [true, object({ b: { default: 1 } })] } }),
      { a: [0, {}] },
      { a: [0, { b: 1 }] },
    ],
    ['in other members', { additionalProperties: object({ b: { default: 1 } }) }, { x: {} }, { x: { b: 1 } }],
    ['in all parts', { allOf: [object({ a: { default: 1 } }), object({ b: { default: 2 } })] }, {}, { a: 1, b: 2 }],
    ['behind a reference', object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { default: 'x' } } }), {}, { a: 'x' }],
    [
      'in the branch that fits',
      object({
        a: {
          oneOf: [
            object({ kind: { const: 'one' }, n: { default: 1 } }, { required: ['kind'] }),
            object({ kind: { const: 'two' }, m: { default: 2 } }, { required: ['kind'] }),
          ],
        },
      }),
      { a: { kind: 'two' } },
      { a: { kind: 'two', m: 2 } },
    ],
  ])('fills in %s', (_, schema, given, filled) => {
    const before = structuredClone(given);
    expect(compileDefaults(schema)!(given)).toEqual(filled);
    expect(given).toEqual(before);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'the branch that fits with the defaults beside it',
      object(
        { kind: { default: 'two' } },
        {
          anyOf: [
            object({ kind: { const: 'one' }, n: { default: 1 } }),
            object({ kind: { const: 'two' }, m: { default: 2 } }),
          ],
        },
      ),
      {},
      { kind: 'two', m: 2 },
    ],
    [
      'other members only where no pattern is for them',
      { patternProperties: { '^x-': {} }, additionalProperties: object({ b: { default: 1 } }) },
      { 'x-a': {}, y: {} },
      { 'x-a': {}, y: { b: 1 } },
    ],
    [
      'no other members where a pattern cannot be read',
      { patternProperties: { '(': {} }, additionalProperties: object({ b: { default: 1 } }) },
      { y: {} },
      { y: {} },
    ],
  ])('fills in %s, and nothing more the second time', (_, schema, given, filled) => {
    const fill = compileDefaults(schema)!;
    expect(fill(given)).toEqual(filled);
    expect(fill(filled)).toBe(filled);
  });

  it('fills what zod fills, also in a schema that refers to itself', () => {
    interface Node {
      name: string;
      next?: Node | undefined;
    }
    const node: z.ZodType<Node> = z.object({
      name: z.string().default('root'),
      next: z.lazy(() => node).optional(),
    }) as unknown as z.ZodType<Node>;
    const schema = z.object({ node, size: z.union([z.string(), z.object({ n: z.int().default(3) })]).default('s') });
    const fill = compileDefaults(deriveJsonSchema(schema))!;
    for (const given of [
      { node: {} },
      { node: { next: { next: {} } }, size: {} },
      { node: { name: 'x' }, size: 'm' },
    ]) {
      expect(fill(given as JsonObject)).toEqual(schema.parse(given));
    }
  });

  it('ends on a schema that refers to itself in place', () => {
    const schema = { type: 'object', $ref: '#', properties: { a: { default: 1 } } };
    expect(compileDefaults(schema)!({})).toMatchObject({});
  });
});
