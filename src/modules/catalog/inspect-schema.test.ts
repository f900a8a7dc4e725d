import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { findSchemaFault, SCHEMA_LIMITS } from './inspect-schema.ts';

function nested(levels: number): JsonObject {
  let schema: JsonObject = {};
  for (let level = 1; level < levels; level += 1) schema = { items: schema };
  return schema;
}

describe('findSchemaFault', () => {
  const faults: readonly [what: string, schema: JsonObject, fault: RegExp][] = [
    ['an unknown type', { type: 'strnig' }, /type/],
    ['a keyword of the wrong type', { properties: [] }, /properties/],
    ['a deep keyword of the wrong type', { properties: { a: { minimum: '1' } } }, /minimum/],
    ['an unknown dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, /2020-12 or draft-07/],
    ['a remote reference', { properties: { a: { $ref: 'https://example.com/x.json' } } }, /another document/],
    ['a file reference', { $ref: 'file:///etc/passwd' }, /another document/],
    ['a relative reference', { $ref: 'other.json#/a' }, /another document/],
    ['a remote dynamic reference', { $dynamicRef: 'https://example.com/x#y' }, /another document/],
    ['a reference to nowhere', { $ref: '#/$defs/none' }, /leads nowhere/],
    ['a reference into the prototype', { $ref: '#/constructor' }, /leads nowhere/],
    ['a reference to data', { $ref: '#/const', const: 1 }, /no schema/],
    ['a reference to itself', { $ref: '#' }, /without going deeper/],
    [
      'a circle of references',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      /without going deeper/,
    ],
    ['an inner $id', { properties: { a: { $id: 'https://example.com/x' } } }, /\$id/],
    ['an anchor twice', { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, /twice/],
    ['look-around', { properties: { a: { pattern: '(?=a)b' } } }, /RE2/],
    ['a back-reference', { properties: { a: { pattern: '(a)\\1' } } }, /RE2/],
    ['a pattern of 10 KB', { pattern: 'a'.repeat(10_000) }, /RE2/],
    ['look-around in a name', { patternProperties: { '(?=a)': {} } }, /patternProperties/],
    ['one megabyte', { description: 'x'.repeat(1024 * 1024) }, /bytes/],
    ['more levels than the stack has', nested(1_000_000), /bytes/],
    ['a very wide list', { anyOf: Array.from({ length: 80_000 }, () => ({})) }, /subschemas/],
    ['too many levels', nested(SCHEMA_LIMITS.depth + 1), /deeper/],
    ['too many subschemas', { anyOf: Array.from({ length: SCHEMA_LIMITS.subschemas }, () => ({})) }, /subschemas/],
  ];
  it.each(faults)('finds %s', (_what, schema, fault) => {
    expect(findSchemaFault(schema)).toMatch(fault);
  });

  const sound: readonly [what: string, schema: JsonObject][] = [
    ['recursion through a property', { properties: { child: { $ref: '#' } } }],
    ['a name that looks like a keyword', { properties: { $ref: { type: 'string' }, pattern: { type: 'string' } } }],
    ['data that looks like a schema', { const: { $ref: 'https://example.com' }, default: { pattern: '(?=' } }],
    ['unknown keywords', { 'x-note': { $ref: 'https://example.com' } }],
    ['look-around beside a format', { format: 'duration', pattern: '^P(?!$)' }],
    ['the deepest nesting', nested(SCHEMA_LIMITS.depth)],
    [
      'draft-07',
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} }, $ref: '#/definitions/a' },
    ],
    ['true as a subschema', { properties: { a: true }, $defs: { b: false }, items: { $ref: '#/$defs/b' } }],
  ];
  it.each(sound)('takes %s', (_what, schema) => {
    expect(findSchemaFault(schema)).toBeUndefined();
  });
});
