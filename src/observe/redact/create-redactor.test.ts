import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { createRedactor, SHOWN_CHARACTERS } from './create-redactor.ts';
import { newRedactionKey } from './redaction-key.ts';

const redactor = createRedactor({ id: '1', bytes: new Uint8Array(32).fill(7) });
const shown = (value: JsonValue, inputSchema?: JsonObject): string =>
  redactor.arguments(canonicalJson(value), inputSchema && { inputSchema });
const MARK = /\[secret [0-9a-f]{8}\]/;

describe('redacted arguments', () => {
  it('mask members whose name has a secret word in it, at any depth', () => {
    for (const key of [
      'pass',
      'password',
      'PASSWD',
      'db_password',
      'dbpassword',
      'secret',
      'client-secret',
      'token',
      'accessToken',
      'X-Auth-Token',
      'apiKey',
      'api_key',
      'APIKey',
      'apikey',
      'auth',
      'Authorization',
      'credential',
      'credentials',
      'privateKey',
      'private_key',
      'cookie',
      'Set-Cookie',
      'token2',
    ]) {
      const text = shown({ a: [{ [key]: 'hush-hush' }] });
      expect([key, text]).toStrictEqual([key, expect.not.stringContaining('hush-hush')]);
      expect([key, text]).toStrictEqual([key, expect.stringMatching(MARK)]);
    }
  });

  it('keep members whose name only contains the letters of one', () => {
    const value = Object.fromEntries(
      [
        'max_tokens',
        'author',
        'authority',
        'passenger',
        'passage',
        'compass',
        'bypass_cache',
        'tokenizer',
        'secretary',
        'keyboard',
        'key',
        'monkey',
        'cookiecutter',
        'primary_key',
      ].map((key) => [key, `kept ${key}`]),
    );
    expect(shown(value)).toBe(canonicalJson(value));
  });

  it('mask numbers and whole groups, and keep yes, no, nothing and references', () => {
    const text = shown({
      password: 123_456,
      credentials: { user: 'hush-user', deep: ['hush-deep'] },
      auth: true,
      token: null,
      secret: '',
      api_key: 'secret:API_KEY',
      cookie: '${secret:COOKIE}',
      authorization: 'Bearer ${secret:API_KEY}',
    });
    expect(text).not.toMatch(/123456|hush/);
    expect(text).toContain('"auth":true');
    expect(text).toContain('"api_key":"secret:API_KEY"');
    expect(text).toContain('"cookie":"${secret:COOKIE}"');
    expect(text).toContain('"authorization":"Bearer ${secret:API_KEY}"');
  });

  it('mask what the schema declares, by three words, in branches, lists and references', () => {
    const schema: JsonObject = {
      $defs: { pin: { type: 'string', 'x-secret': true }, node: { properties: { next: { $ref: '#/$defs/node' } } } },
      properties: {
        user: {},
        a: { 'x-secret': true },
        b: { writeOnly: true },
        c: { format: 'password' },
        d: { $ref: '#/$defs/pin' },
        e: { anyOf: [{ type: 'null' }, { allOf: [{ properties: { f: { writeOnly: true } } }] }] },
        g: { items: { properties: { h: { writeOnly: true }, i: {} } } },
        j: { prefixItems: [{}, { writeOnly: true }] },
        k: { properties: { l: {} }, additionalProperties: { writeOnly: true } },
        m: { $ref: '#/$defs/node' },
      },
    };
    const value = {
      user: 'seen1',
      a: 'hush',
      b: { x: 'hush' },
      c: 'hush',
      d: 'hush',
      e: { f: 'hush' },
      g: [{ h: 'hush', i: 'seen2' }],
      j: ['seen3', 'hush'],
      k: { l: 'seen4', z: 'hush' },
      m: { next: { next: { other: 'seen5' } } },
    };
    const text = shown(value, schema);
    expect(text).not.toContain('hush');
    for (const seen of ['seen1', 'seen2', 'seen3', 'seen4', 'seen5']) expect(text).toContain(seen);
    expect(shown(value, {})).toBe(canonicalJson(value));
  });

  it('mask what a reference with a percent escape declares', () => {
    const schema: JsonObject = {
      $defs: { 'card pin': { writeOnly: true } },
      properties: { a: { $ref: '#/$defs/card%20pin' } },
    };
    expect(shown({ a: 'hush' }, schema)).not.toContain('hush');
  });

  const pin: JsonObject = { type: 'string', 'x-secret': true };
  const group: JsonObject = { type: 'object', properties: { pin, name: { type: 'string' } } };
  it.each<[string, JsonObject, JsonValue]>([
    ['a group written as a text', group, '{"pin":"hush"}'],
    ['a group written as a list', group, [{ pin: 'hush' }]],
    ['a list of groups written as one group', { type: 'array', items: group }, { pin: 'hush' }],
    ['a list written as a text', { type: 'array', items: pin }, 'hush'],
    ['a list of lists written as one list', { items: { type: 'array', items: pin } }, ['hush', ['hush']]],
    ['a list in one list too many', { items: { items: pin } }, [[['hush']]]],
    ['a secret group that has other members', { ...group, 'x-secret': true }, { other: 'hush' }],
    ['a record of texts that holds groups', { type: 'object', additionalProperties: pin }, { a: { b: 'hush' } }],
    ['a record written as a list', { type: 'object', additionalProperties: pin }, ['hush']],
    ['a word that is not listed', { type: 'string', enum: ['a', 'b'], 'x-secret': true }, 'hush'],
    ['a union of a secret and a number, with a list', { anyOf: [pin, { type: 'number' }] }, ['hush']],
    ['a union of groups and numbers, with a text', { oneOf: [group, { type: 'number' }] }, 'hush'],
    [
      'a union of groups, with another kind',
      { oneOf: [group, { properties: { kind: { const: 'b' } } }] },
      { kind: 'c', pin: 'hush' },
    ],
    ['a misspelt member next to a secret one', group, { pni: 'hush' }],
    [
      'more items than a tuple has',
      { type: 'array', prefixItems: [{ type: 'string' }, pin], items: false },
      ['seen', 'hush', 'hush'],
    ],
    ['an anchor', { $ref: '#pin' }, 'hush'],
    ['a login in a secret list', { type: 'array', items: pin }, ['-u', 'hush:word']],
  ])('mask a secret in a value that does not fit its schema: %s', (_, schema, value) => {
    const inputSchema = { $defs: { pin: { ...pin, $anchor: 'pin' } }, type: 'object', properties: { it: schema } };
    expect(shown({ it: value }, inputSchema)).not.toContain('hush');
    expect(shown({ it: value }, inputSchema)).toMatch(MARK);
  });

  it('keep members that a schema with secrets allows without declaring them, and values that hold none', () => {
    const open = { ...group, additionalProperties: {} };
    const list = { type: 'array', items: { type: 'string' } };
    const inputSchema = { type: 'object', properties: { open, list, either: { anyOf: [group, { type: 'string' }] } } };
    const value = { open: { other: 'seen', name: 'seen' }, list: { a: 'seen' }, either: 'seen' };
    expect(shown(value, inputSchema)).toBe(canonicalJson(value));
  });

  it('mask headers in lists and commands in words', () => {
    const text = shown({
      headers: [
        { name: 'X-Api-Key', value: 'hush1' },
        { name: 'Accept', value: 'seen1' },
      ],
      pairs: [
        ['Authorization', 'hush2'],
        ['Accept', 'seen2'],
      ],
      argv: ['curl', '-u', 'ann:hush3', '--token', 'hush4', '--max-tokens', 'seen3', '-u', '1000:1000'],
    });
    expect(text).not.toContain('hush');
    for (const seen of ['seen1', 'seen2', 'seen3', '1000:1000', 'ann:[secret']) expect(text).toContain(seen);
  });

  it('give equal secrets equal marks, and other keys other marks', () => {
    const [one, two, other] = [shown({ token: 'same1' }), shown({ token: 'same1' }), shown({ token: 'other' })];
    expect(one).toBe(two);
    expect(one).not.toBe(other);
    const rotated = createRedactor(newRedactionKey('2')).arguments('{"token":"same1"}');
    expect(rotated).toMatch(/\[secret 2:[0-9a-f]{8}\]/);
  });

  it('are cut for display, with their end, after everything was masked', () => {
    const text = shown({ a: 'x'.repeat(5000), z: 'the end', password: 'hush' });
    expect(text.length).toBeLessThanOrEqual(SHOWN_CHARACTERS);
    expect(text).toContain('characters) …');
    expect(text).toContain('the end"}');
    expect(shown({ a: '😀'.repeat(2000) })).toMatch(/^\P{Cs}*$/u);
  });

  it('are the same text when nothing in them is secret', () => {
    const canonical = canonicalJson({ path: '/tmp/a', list: [1, 2, { '10': 1, '9': 2 }], note: 'authors keep tokens' });
    expect(redactor.arguments(canonical)).toBe(canonical);
  });

  it('mask a credential that is a key', () => {
    const text = shown({ map: { ghp_abcdefghij0123456789: 1, ghp_abcdefghij9876543210: 2 } });
    expect(text).not.toContain('ghp_');
  });
});
