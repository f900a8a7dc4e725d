import { describe, expect, test } from 'vitest';
import { samplePublished } from '../../../test/support/sample-call.ts';
import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { toAiSdk } from './ai-sdk.ts';
import { toAnthropic } from './anthropic.ts';
import { toLangChain } from './langchain.ts';
import { toMcp } from './mcp.ts';
import { toOpenAiChat } from './openai-chat.ts';
import { toOpenAiResponses } from './openai-responses.ts';

const inputSchema: JsonObject = {
  type: 'object',
  properties: { zone: { type: 'string', description: 'Like "Europe/Zürich".' }, at: { $ref: '#/$defs/when' } },
  required: ['zone'],
  additionalProperties: false,
  $defs: { when: { type: ['integer', 'null'], minimum: 0 } },
};
const outputSchema: JsonObject = { type: 'object', properties: { time: { type: 'string' } } };

const now = samplePublished({
  id: toolId('clock', 'now'),
  description: 'Gives the time.',
  inputSchema,
  outputSchema,
  effect: 'read',
});
const set = samplePublished({
  id: toolId('clock', 'set'),
  description: 'Sets it.',
  inputSchema: { type: 'object' },
  effect: 'unsafe',
});
const TOOLS = [now, set];

const SCHEMA =
  '{"type":"object","properties":{"zone":{"type":"string","description":"Like \\"Europe/Zürich\\"."},' +
  '"at":{"$ref":"#/$defs/when"}},"required":["zone"],"additionalProperties":false,' +
  '"$defs":{"when":{"type":["integer","null"],"minimum":0}}}';

/** Compared byte by byte: if a format changes, the prompt caches of all callers who use it become useless. */
const FORMATS: readonly (readonly [string, (tools: readonly PublishedTool[]) => unknown, string])[] = [
  [
    'toOpenAiChat',
    toOpenAiChat,
    `[{"type":"function","function":{"name":"clock__now","description":"Gives the time.","parameters":${SCHEMA}}},` +
      '{"type":"function","function":{"name":"clock__set","description":"Sets it.","parameters":{"type":"object"}}}]',
  ],
  [
    'toOpenAiResponses',
    toOpenAiResponses,
    `[{"type":"function","name":"clock__now","description":"Gives the time.","parameters":${SCHEMA},"strict":false},` +
      '{"type":"function","name":"clock__set","description":"Sets it.","parameters":{"type":"object"},"strict":false}]',
  ],
  [
    'toAnthropic',
    toAnthropic,
    `[{"name":"clock__now","description":"Gives the time.","input_schema":${SCHEMA}},` +
      '{"name":"clock__set","description":"Sets it.","input_schema":{"type":"object"}}]',
  ],
  [
    'toAiSdk',
    toAiSdk,
    `{"clock__now":{"description":"Gives the time.","inputSchema":${SCHEMA}},` +
      '"clock__set":{"description":"Sets it.","inputSchema":{"type":"object"}}}',
  ],
  [
    'toLangChain',
    toLangChain,
    `[{"name":"clock__now","description":"Gives the time.","schema":${SCHEMA}},` +
      '{"name":"clock__set","description":"Sets it.","schema":{"type":"object"}}]',
  ],
  [
    'toMcp',
    toMcp,
    `[{"name":"clock__now","title":"clock.now","description":"Gives the time.","inputSchema":${SCHEMA},` +
      '"outputSchema":{"type":"object","properties":{"time":{"type":"string"}}},' +
      '"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true}},' +
      '{"name":"clock__set","title":"clock.set","description":"Sets it.","inputSchema":{"type":"object"},' +
      '"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false}}]',
  ],
];

describe.each(FORMATS)('%s', (_name, format, bytes) => {
  test('writes these bytes', () => {
    expect(JSON.stringify(format(TOOLS))).toBe(bytes);
  });

  test('writes the same bytes for any order of the tools, or of the keys of their declarations', () => {
    const shuffled = [set, now].map(({ tool, module }) => ({ tool: backwards(tool), module }));
    expect(JSON.stringify(format(shuffled))).toBe(bytes);
  });

  test('starts with the same bytes when a tool is added after the others', () => {
    const withoutEnd = JSON.stringify(format([now])).slice(0, -1);
    expect(bytes.startsWith(withoutEnd)).toBe(true);
  });

  test('gives copies, so that an SDK which writes into a schema does not write into the catalog', () => {
    const before = JSON.stringify(TOOLS);
    scribble(format(TOOLS));
    expect(JSON.stringify(TOOLS)).toBe(before);
  });

  test('takes what is frozen', () => {
    expect(JSON.stringify(format(deepFreeze(structuredClone(TOOLS))))).toBe(bytes);
  });

  test('gives nothing for nothing', () => {
    expect(Object.keys(format([]) as object)).toStrictEqual([]);
  });

  test('refuses a tool that is there twice', () => {
    expect(() => format([now, set, now])).toThrow('The toolkit has "clock.now" twice, as "clock__now".');
  });
});

describe('toMcp', () => {
  test.each([
    ['read', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ['idempotent', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ['unsafe', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ] as const)('turns the effect %s into hints', (effect, annotations) => {
    expect(toMcp([samplePublished({ effect })])[0]).toMatchObject({ annotations });
  });

  test('leaves out an output schema that is not of an object', () => {
    const [tool] = toMcp([samplePublished({ outputSchema: { type: 'array', items: {} } })]);
    expect(tool).not.toHaveProperty('outputSchema');
  });
});

function backwards<Declaration extends object>(declaration: Declaration): Declaration {
  return Object.fromEntries(Object.entries(declaration).reverse()) as Declaration;
}

function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(scribble);
  if (Array.isArray(value)) value.push('scribbled');
  else Object.assign(value, { scribbled: true });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
