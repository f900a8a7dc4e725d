import { describe, expect, it } from 'vitest';
import { redactBySchema } from './redact-by-schema.ts';
import { renderArguments } from './render-question.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    user: { type: 'string' },
    password: { type: 'string', format: 'password' },
    'a/b': { writeOnly: true },
    accounts: { type: 'array', items: { properties: { key: { writeOnly: true }, name: {} } } },
    either: { anyOf: [{ type: 'null' }, { allOf: [{ properties: { pin: { writeOnly: true } } }] }] },
    headers: { additionalProperties: { writeOnly: true }, properties: { accept: {} } },
    pair: { prefixItems: [{}, { writeOnly: true }] },
  },
};

describe('redactBySchema', () => {
  it('hides what the schema calls a secret, wherever it stands, and nothing else', () => {
    const { text, redacted } = renderArguments(
      JSON.stringify({
        user: 'seen1',
        password: 'hush',
        'a/b': { c: 'hush' },
        accounts: [{ key: 'hush', name: 'seen2' }],
        either: { pin: 'hush' },
        headers: { accept: 'seen3', cookie: 'hush' },
        pair: ['seen4', 'hush'],
        other: 'seen5',
      }),
      redactBySchema(SCHEMA),
    );
    expect(text).not.toContain('hush');
    for (const seen of ['seen1', 'seen2', 'seen3', 'seen4', 'seen5']) expect(text).toContain(seen);
    expect(redacted).toBe(6);
  });

  it('of a schema that says nothing hides nothing', () => {
    for (const schema of [{}, true, { properties: { a: true } }, { properties: [] as never }]) {
      expect(renderArguments('{"a":{"b":[1]}}', redactBySchema(schema)).redacted).toBe(0);
    }
  });
});
