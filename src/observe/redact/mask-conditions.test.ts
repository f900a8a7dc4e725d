import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { maskConditions } from './mask-conditions.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    to: { type: 'string' },
    pin: { type: 'string', 'x-secret': true },
    code: { type: 'integer', writeOnly: true },
    login: { type: 'object', properties: { user: { type: 'string' }, key: { type: 'string', format: 'password' } } },
    users: { type: 'array', items: { type: 'object', properties: { pin: { type: 'string', 'x-secret': true } } } },
    byName: { type: 'object', additionalProperties: { type: 'string', 'x-secret': true } },
  },
};
const shown = (...conditions: JsonObject[]): JsonObject[] =>
  maskConditions(conditions, SCHEMA, (secret) => `[${secret.length}]`);

it.each([
  [
    { at: '/pin', equals: '8421' },
    { at: '/pin', equals: '[4]' },
  ],
  [
    { at: '/pin', not: true, in: ['8421', '99'] },
    { at: '/pin', not: true, in: ['[4]', '[2]'] },
  ],
  [
    { at: '/pin', prefix: '84' },
    { at: '/pin', prefix: '[2]' },
  ],
  [
    { at: '/code', range: { min: 8421, max: 8421 } },
    { at: '/code', range: '[23]' },
  ],
  [
    { at: '/login', equals: { user: 'ann', key: '8421' } },
    { at: '/login', equals: { user: 'ann', key: '[4]' } },
  ],
  [
    { at: '/users/*/pin', equals: '8421' },
    { at: '/users/*/pin', equals: '[4]' },
  ],
  [
    { at: '/users/0/pin', equals: '8421' },
    { at: '/users/0/pin', equals: '[4]' },
  ],
  [
    { at: '/byName/*', equals: '8421' },
    { at: '/byName/*', equals: '[4]' },
  ],
  [
    { at: '', equals: { pin: '8421', to: 'ann' } },
    { at: '', equals: { pin: '[4]', to: 'ann' } },
  ],
  [
    { at: '/password', equals: '8421' },
    { at: '/password', equals: '[4]' },
  ],
])('hides the marked values of %j', (condition, expected) => {
  expect(shown(condition)).toEqual([expected]);
});

it('hides a credential in a place that nothing marks', () => {
  const [condition] = shown({ at: '/to', prefix: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' });
  expect(JSON.stringify(condition)).not.toContain('16C7e42F');
});

it('shows what says nothing about a secret', () => {
  const harmless = [
    { at: '/pin', exists: true },
    { at: '/pin', length: { max: 4 } },
    { at: '/pin', equals: 'secret:PIN' },
    { at: '/to', in: ['ann', 'ben'] },
    { at: '/login/user', glob: 'a*' },
  ];
  expect(shown(...harmless)).toEqual(harmless);
});

it('hides every value of a tool whose schema is not known', () => {
  expect(maskConditions([{ at: '/to', equals: 'ann' }], undefined, () => 'mark')).toEqual([
    { at: '/to', equals: 'mark' },
  ]);
});
