import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineModule, tool, type ToolDefinition } from './define-module.ts';
import { declareModule, describeModule } from './describe-module.ts';
import { jsonSchema } from './plain-schema.ts';
import type { StandardSchema } from './standard-schema.ts';

const search = tool({
  description: 'Finds notes.',
  input: z.object({ text: z.string(), limit: z.number().default(10) }),
  output: z.object({ found: z.array(z.string()) }),
  effect: 'read',
  run: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ text: string; limit: number }>();
    return { found: [args.text] };
  },
});
const notes = (tools: Record<string, unknown>, more: object = {}): unknown => ({
  id: 'notes',
  version: '1.0.0',
  description: 'Notes.',
  tools,
  ...more,
});
const withTool = (change: object): unknown => notes({ search: { ...search, ...change } });

describe('describeModule', () => {
  test('gives plain data with schemas, defaults and digests', () => {
    const described = describeModule(
      defineModule({ id: 'notes', version: '1.0.0', description: 'Notes.', tools: { search } }),
    );
    expect(described).toMatchObject({ id: 'notes', version: '1.0.0', runner: 'inline' });
    expect(described).not.toHaveProperty('pool');
    expect(described.tools).toEqual([
      {
        id: 'notes.search',
        description: 'Finds notes.',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string' }, limit: { type: 'number', default: 10 } },
          required: ['text'],
        },
        outputSchema: expect.objectContaining({ type: 'object', required: ['found'] }),
        effect: 'read',
        privileged: false,
        serial: false,
        refusesUndeclared: true,
        limits: { timeoutMs: 60_000, maxAttempts: 3, waitMs: 10_000, maxResultBytes: 16 * 1024 * 1024 },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(() => structuredClone(described)).not.toThrow();
  });

  test('treats a tool without an effect as unsafe, with one attempt', () => {
    const { effect: _effect, ...plain } = search;
    expect(describeModule(notes({ search: plain })).tools[0]).toMatchObject({
      effect: 'unsafe',
      limits: { maxAttempts: 1 },
    });
  });

  test('changes the digest with what the caller sees and not with limits', () => {
    const digest = (change: object): string => describeModule(withTool(change)).tools[0]!.digest;
    expect(digest({ limits: { timeoutMs: 5 } })).toBe(digest({}));
    expect(digest({ description: 'Other.' })).not.toBe(digest({}));
    expect(digest({ privileged: true })).not.toBe(digest({}));
  });

  test('publishes cadence, progress and cost as data, and keeps them out of the digest', () => {
    const accounts = { poll: { everyMs: 5000 }, progress: ['', '/a~1b/0', '/~0'], cost: 0.25 };
    const [described] = describeModule(withTool(accounts)).tools;
    expect(described).toMatchObject(accounts);
    expect(described!.digest).toBe(describeModule(withTool({})).tools[0]!.digest);
    expect(describeModule(withTool({ progress: [], cost: 0 })).tools[0]).toMatchObject({ progress: [], cost: 0 });
  });

  test('refuses members that a module or a tool cannot have, with the name that was probably meant', () => {
    const wrong = [
      [
        withTool({ priviledged: true }),
        'Tool notes.search has an unknown member "priviledged"; did you mean "privileged"?',
      ],
      [withTool({ handler: () => 1 }), 'unknown member "handler"; known: description, input'],
      [notes({ search }, { rnner: 'process' }), 'Module notes has an unknown member "rnner"; did you mean "runner"?'],
    ] as const;
    for (const [module, problem] of wrong) expect(() => describeModule(module)).toThrow(problem);
  });

  test('refuses definitions with members that a copy would lose, made with tool or not', () => {
    class Closed {
      get privileged(): boolean {
        return true;
      }
    }
    const inherited = Object.assign(new Closed(), search);
    const hidden = Object.defineProperty({ ...search }, 'privileged', { value: true, enumerable: false });
    const symbol = { ...search, [Symbol('privileged')]: true };
    for (const given of [inherited, hidden, symbol]) {
      expect(() => tool(given as never)).toThrow('What tool({ … }) was given is not a plain object');
      expect(() => describeModule(notes({ search: given }))).toThrow('Tool notes.search is not a plain object');
    }
    const limits = Object.create({ timeoutMS: 1 }) as object;
    expect(() => describeModule(withTool({ limits }))).toThrow('has "limits", which is not a plain object');
  });

  test('names another instance of the same file, and declares it for a pool', () => {
    const described = describeModule(withTool({}), { id: 'work-notes' });
    expect(described.tools[0]!.id).toBe('work-notes.search');
    const declared = declareModule(described, 'default');
    expect(declared).toMatchObject({
      id: 'work-notes',
      pool: 'default',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(declareModule(described, 'other').digest).not.toBe(declared.digest);
    expect(Object.keys(declared).sort()).toEqual(['description', 'digest', 'id', 'pool', 'tools', 'version']);
  });

  test('takes JSON Schema as jsonSchema() or as a plain object, and Standard JSON Schema of other libraries', () => {
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    const other: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value) => ({ value }),
        jsonSchema: { input: ({ target }) => ({ ...schema, $comment: target }), output: () => ({}) },
      },
    };
    expect(describeModule(withTool({ input: jsonSchema(schema) })).tools[0]!.inputSchema).toEqual(schema);
    expect(describeModule(withTool({ input: schema })).tools[0]!.inputSchema).toEqual(schema);
    expect(describeModule(withTool({ input: other })).tools[0]!.inputSchema).toEqual({
      ...schema,
      $comment: 'draft-2020-12',
    });
  });

  test('keeps denial patterns and the setup schema for the worker', () => {
    const described = describeModule(
      notes(
        { search: { ...search, denials: ['^Refused'] } },
        { setup: z.object({ root: z.string() }), runner: 'process', pool: 'p' },
      ),
    );
    expect(described.denials.get(described.tools[0]!.id)).toEqual(['^Refused']);
    expect(described).toMatchObject({ setupSchema: { type: 'object' }, runner: 'process', pool: 'p' });
  });

  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['nothing exported', undefined, 'no module as its default export'],
    ['a function exported', () => ({}), 'no module as its default export'],
    ['no tools', { id: 'x', version: '1', description: 'x' }, 'no "tools"'],
    ['an empty list of tools', notes({}), '0 tools'],
    ['a module name with a dot', notes({ search }, { id: 'a.b' }), 'module id "a.b"'],
    ['a tool name with a slash', notes({ 'a/b': search }), 'tool name in module notes "a/b"'],
    ['no version', notes({ search }, { version: undefined }), 'version'],
    ['an unknown runner', notes({ search }, { runner: 'rocket' }), 'unknown runner'],
    ['no run', withTool({ run: undefined }), 'Tool notes.search has no function "run"'],
    ['a tool that is none', notes({ search: 5 }), 'is not a tool'],
    ['an unknown effect', withTool({ effect: 'maybe' }), 'unknown effect'],
    ['an unsafe tool with attempts', withTool({ effect: 'unsafe', limits: { maxAttempts: 2 } }), 'never started twice'],
    ['a limit of zero', withTool({ limits: { timeoutMs: 0 } }), 'timeoutMs 0'],
    ['an unknown limit', withTool({ limits: { timeout: 5 } }), 'unknown limit "timeout"; did you mean "timeoutMs"?'],
    ['a limit like no other', withTool({ limits: { retries: 5 } }), 'unknown limit "retries"; known: timeoutMs, '],
    ['a poll that is a number', withTool({ poll: 5000 }), 'a "poll" that is not { everyMs }'],
    ['a poll without a cadence', withTool({ poll: {} }), 'poll.everyMs undefined; it must be a whole number from 100'],
    ['a poll that never waits', withTool({ poll: { everyMs: 0 } }), 'poll.everyMs 0'],
    ['a poll of half milliseconds', withTool({ poll: { everyMs: 100.5 } }), 'poll.everyMs 100.5'],
    [
      'a poll with something else',
      withTool({ poll: { everyMs: 500, every: 1 } }),
      'unknown member "every" in "poll"; known: everyMs.',
    ],
    ['progress that is a text', withTool({ progress: '/status' }), 'a list of up to 20 JSON pointers'],
    ['21 kinds of progress', withTool({ progress: Array.from({ length: 21 }, (_, at) => `/${at}`) }), 'up to 20'],
    ['progress that is no pointer', withTool({ progress: ['status'] }), 'no JSON pointer like "/status": "status"'],
    ['progress that is a number', withTool({ progress: ['/a', 5] }), 'no JSON pointer like "/status": 5'],
    ['progress that is missing', withTool({ progress: [undefined] }), 'no JSON pointer'],
    ['an escape no pointer has', withTool({ progress: ['/a~2b'] }), 'no JSON pointer'],
    ['the same progress twice', withTool({ progress: ['/a', '/a'] }), '"/a" twice in "progress"'],
    ['a negative cost', withTool({ cost: -1 }), 'cost -1; it must be a number from 0 to 1000000'],
    ['a cost that is no number', withTool({ cost: Number.NaN }), 'cost NaN'],
    ['a cost that is text', withTool({ cost: '5' }), 'cost "5"'],
    ['a flag that is text', withTool({ privileged: 'no' }), '"privileged" must be true or false'],
    ['no description', withTool({ description: ' ' }), 'needs a description'],
    ['a description of 3 KB', withTool({ description: 'x'.repeat(3000) }), '3000 bytes'],
    ['an escape sequence', withTool({ description: 'a\u001B[2J' }), 'a control character'],
    ['a bidi override', withTool({ description: 'a\u202Eb' }), 'a bidirectional control'],
    ['tag characters', withTool({ description: 'a\u{E0041}' }), 'a tag character'],
    ['a zero-width space', withTool({ description: 'a\u200Bb' }), 'a zero-width character'],
    ['data in variation selectors', withTool({ description: 'a\uFE01' }), 'a variation selector'],
    [
      'hidden text in the schema',
      withTool({ input: z.object({ a: z.string().describe('x\u200By') }) }),
      'a zero-width character',
    ],
    ['a root that is no object', withTool({ input: z.string() }), 'root type is not "object"'],
    ['no input', withTool({ input: undefined }), 'input schema that cannot be published'],
    ['what JSON Schema cannot say', withTool({ input: z.object({ d: z.date() }) }), 'Date cannot be represented'],
    [
      'a remote reference',
      withTool({ input: { type: 'object', properties: { a: { $ref: 'https://example.org/x' } } } }),
      'only local references',
    ],
    ['a schema of 300 KB', withTool({ input: { type: 'object', enum: ['x'.repeat(300_000)] } }), 'the limit is 262144'],
    ['a denial that is no RE2', withTool({ denials: ['(?=x)'] }), 'no RE2 pattern'],
    [
      'a library without JSON Schema',
      withTool({ input: { '~standard': { version: 1, vendor: 'old', validate: () => ({}) } } }),
      'wrap one with jsonSchema()',
    ],
    [
      'a getter that throws',
      {
        get tools(): never {
          throw new Error('boom');
        },
      },
      'cannot be read',
    ],
  ];
  test.each(wrong)('refuses %s', (_what, module, problem) => {
    expect(() => describeModule(module)).toThrow(
      expect.objectContaining({ name: 'ModuleProblem', message: expect.stringContaining(problem) }),
    );
  });

  test('lets tabs, newlines and emoji stand in descriptions, and a privileged tool be of effect read', () => {
    const described = describeModule(withTool({ description: 'One.\n\tTwo ⚠\uFE0F', privileged: true }));
    expect(described.tools[0]).toMatchObject({ effect: 'read', privileged: true });
  });
});

test('defineModule gives tools made by its own maker the type of the setup', () => {
  const module = defineModule({
    id: 'x',
    version: '1',
    description: 'X.',
    setup: z.object({ root: z.string().default('/') }),
    tools: (make) => ({
      list: make({
        description: 'Lists.',
        input: z.object({}),
        run: (_args, ctx) => {
          expectTypeOf(ctx.setup).toEqualTypeOf<{ root: string }>();
          return ctx.setup.root;
        },
      }),
    }),
  });
  expectTypeOf(module.tools['list']!).toEqualTypeOf<ToolDefinition>();
  expect(Object.keys(module.tools)).toEqual(['list']);
});

test('tool refuses a result of another type than its output schema, when it is compiled', () => {
  const wrong = tool({
    description: 'x',
    input: z.object({}),
    output: z.object({ n: z.number() }),
    // @ts-expect-error n is a number
    run: () => ({ n: 'text' }),
  });
  expect(wrong.description).toBe('x');
});
