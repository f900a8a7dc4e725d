import { describe, expect, test } from 'vitest';
import { samplePublished } from '../../../test/support/sample-call.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { findRefusals, PROVIDERS } from './find-refusals.ts';

const withSchema = (more: JsonObject) => [
  samplePublished({ id: toolId('notes', 'add'), inputSchema: { type: 'object', ...more } }),
];

describe('findRefusals', () => {
  test.each(PROVIDERS)('finds nothing against a plain schema, for %s', (provider) => {
    const nested = { properties: { a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/b' }] } }, $defs: { b: {} } };
    expect(findRefusals(withSchema(nested), provider)).toStrictEqual([]);
  });

  test.each(['gpt', 'constructor', undefined])('names the providers there are, when asked about %s', (provider) => {
    expect(() => findRefusals([], provider as never)).toThrow('provider must be "openai" or "anthropic", not ');
  });

  test('names each keyword that may not stand at the root', () => {
    const tools = withSchema({ anyOf: [{ required: ['a'] }], not: { required: ['b'] } });
    const reason = (keyword: string) => ({
      tool: 'notes.add',
      reason: `"${keyword}" at the root of its input schema`,
    });
    expect(findRefusals(tools, 'openai')).toStrictEqual([reason('anyOf'), reason('not')]);
    expect(findRefusals(tools, 'anthropic')).toStrictEqual([reason('anyOf')]);
  });

  test('names each property that Anthropic does not take', () => {
    const tools = withSchema({ properties: { 'a.b': {}, $top: {}, ['x'.repeat(65)]: {} } });
    expect(findRefusals(tools, 'anthropic').map(({ reason }) => reason)).toStrictEqual([
      'the property name "$top"',
      `the property name "${'x'.repeat(65)}"`,
    ]);
    expect(findRefusals(tools, 'openai')).toStrictEqual([]);
  });

  test('names the tools after the 128th that OpenAI does not take', () => {
    const tools = Array.from({ length: 130 }, (_, index) =>
      samplePublished({ id: toolId('many', `tool-${String(999 - index)}`) }),
    );
    expect(findRefusals(tools, 'openai')).toStrictEqual([
      { tool: 'many.tool-998', reason: 'more than 128 tools' },
      { tool: 'many.tool-999', reason: 'more than 128 tools' },
    ]);
    expect(findRefusals(tools, 'anthropic')).toStrictEqual([]);
  });
});
