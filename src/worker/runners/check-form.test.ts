import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { findFormFault, findFormProblems } from './check-form.ts';

const formOf = (field: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { field },
  ...more,
});

describe('findFormFault', () => {
  it.each([
    [{ type: 'string', default: 'a' }],
    [{ type: 'integer' }],
    [{ type: 'boolean' }],
    [{ type: 'string', enum: ['a'] }],
    [{ oneOf: [{ const: 'a', title: 'A' }] }],
    [{ type: 'array', items: { type: 'string', enum: ['a'] } }],
    [{ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }],
  ])('takes a field %j', (field) => {
    expect(findFormFault(formOf(field as JsonObject))).toBeUndefined();
  });

  it.each([
    [formOf({ type: 'object', properties: {} }), '"field" is no text, number, flag or choice'],
    [formOf({ type: 'array', items: { type: 'string' } }), '"field" is no text, number, flag or choice'],
    [formOf({ $ref: '#/$defs/a' }), '"field" is no text, number, flag or choice'],
    [formOf({ anyOf: [{ type: 'string' }, { type: 'null' }] }), '"field" is no text, number, flag or choice'],
    [{ type: 'string' }, 'it is no schema of an object'],
  ])('refuses %j', (schema, fault) => {
    expect(findFormFault(schema as JsonObject)).toBe(fault);
  });
});

describe('findFormProblems', () => {
  const cases: [JsonObject, JsonValue, string | undefined][] = [
    [{ type: 'string', minLength: 2, maxLength: 3 }, 'ab', undefined],
    [{ type: 'string', minLength: 2 }, '😀', 'is too long or too short'],
    [{ type: 'string', format: 'email' }, 'a@b', undefined],
    [{ type: 'string', format: 'email' }, 'nobody', 'is no email'],
    [{ type: 'string', format: 'date' }, '2026-11-15', undefined],
    [{ type: 'string', format: 'date-time' }, 'today', 'is no date-time'],
    [{ type: 'string', format: 'uri' }, 'https://a', undefined],
    [{ type: 'integer', minimum: 1, maximum: 3 }, 2, undefined],
    [{ type: 'integer' }, 1.5, 'is no integer'],
    [{ type: 'number', maximum: 3 }, 4, 'is too large or too small'],
    [{ type: 'number' }, '4', 'is no number'],
    [{ type: 'boolean' }, 'true', 'is not true or false'],
    [{ type: 'string', enum: ['a', 'b'] }, 'b', undefined],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'is none of the choices'],
    [{ oneOf: [{ const: 'a', title: 'A' }] }, 'A', 'is none of the choices'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['a', 'b'], 'has too many or too few of them'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['c'], 'is no list of choices'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a', 'is no list of choices'],
  ];
  it.each(cases)('of %j with %j: %s', (field, value, problem) => {
    expect(findFormProblems(formOf(field), { field: value })).toStrictEqual(
      problem === undefined ? [] : [`field ${problem}`],
    );
  });

  it('are what is missing, and what was not asked for where the schema says so', () => {
    const form = formOf({ type: 'string' }, { required: ['field', 'toString'] });
    expect(findFormProblems(form, { other: 1 })).toStrictEqual(['field is missing', 'toString is missing']);
    expect(findFormProblems({ ...form, additionalProperties: false }, { field: 'a', toString: 'b' })).toStrictEqual([
      'toString is not asked for',
    ]);
  });
});
