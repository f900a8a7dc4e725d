import { describe, expect, it } from 'vitest';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { DEFAULT_LIMITS } from '../../domain/tool/tool.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { withSecrets } from './run-with-secrets.ts';

const VALUES: Readonly<Record<string, string>> = { KEY: 'hunter2-hunter2', OTHER: 'another-value' };
const source = {
  knows: (name: string) => name in VALUES,
  read: async (name: string) =>
    name === 'BROKEN'
      ? ({ kind: 'problem', problem: 'its file is gone' } as const)
      : ({ kind: 'read', value: VALUES[name]! } as const),
};

interface Given {
  readonly arguments?: JsonObject;
  readonly setup?: JsonObject;
  readonly refused?: readonly string[];
  readonly maxResultBytes?: number;
  readonly signal?: AbortSignal;
}

/** Runs a tool that is a function of its request. */
async function run(tool: (request: RunRequest) => Promise<RunEnding> | RunEnding, given: Given = {}) {
  const told: unknown[] = [];
  const answered = { kind: 'ok', executed: 'yes', retryable: false, content: [] } as const;
  const request = {
    tool: {
      id: 'demo.tool',
      secrets: ['BROKEN', 'KEY', 'OTHER'],
      limits: { ...DEFAULT_LIMITS, maxResultBytes: given.maxResultBytes ?? 100_000 },
    },
    arguments: given.arguments ?? {},
    setup: given.setup ?? {},
    timeoutMs: 1000,
    signal: given.signal ?? new AbortController().signal,
    secrets: {
      refuse: (secret: string) =>
        given.refused?.includes(secret) === true
          ? errorOutcome('SECRET_DENIED', { tool: 'demo.tool', secret, agent: 'main' })
          : undefined,
    },
    onProgress: (progress: unknown) => told.push(progress),
    onLog: (line: unknown) => told.push(line),
    onNestedCall: async (nested: unknown) => (told.push(nested), answered),
    onSomethingNew: (...all: unknown[]) => told.push(all),
    services: { offered: {}, call: async (asked: unknown) => (told.push(asked), null) },
  } as unknown as RunRequest;
  let entered = 0;
  const runner: ToolRunner = {
    run: (order) => ((entered += 1), tool(order)),
    close: async () => undefined,
  };
  const ending = await withSecrets(runner, source).run(request);
  return { ending, told, entered, all: JSON.stringify([ending, told]) };
}

const returned = (value: JsonObject): RunEnding => ({
  kind: 'returned',
  result: { value },
  writeBacks: NO_WRITE_BACKS,
});

describe('what a run with secrets asks of services', () => {
  it('holds marks in their place, because services store what they get', async () => {
    const { told, all } = await run(
      async (request) => {
        const args = [{ text: `the key is ${request.arguments['key'] as string}` }];
        await request.services!.call({ service: 'conversations', method: 'append', args });
        return returned({});
      },
      { arguments: { key: 'secret:KEY' } },
    );
    expect(told).toHaveLength(1);
    expect(all).toContain('the key is ');
    expect(all).not.toContain(VALUES['KEY']);
  });
});

describe('a run with secrets', () => {
  it('gives the tool values in place of references, in arguments and setup', async () => {
    let seen: unknown;
    const { entered } = await run(({ arguments: args, setup }) => ((seen = [args, setup]), returned({})), {
      arguments: { a: { b: ['secret:KEY', 'x ${secret:OTHER}', 'secret::KEY'] } },
      setup: { key: 'secret:KEY', not: 'secret:UNDECLARED' },
    });
    expect(entered).toBe(1);
    expect(seen).toStrictEqual([
      { a: { b: ['hunter2-hunter2', 'x another-value', 'secret:KEY'] } },
      { key: 'hunter2-hunter2', not: 'secret:UNDECLARED' },
    ]);
  });

  it('scrubs results, keys, blocks and write-backs', async () => {
    const { ending, all } = await run(
      () => ({
        kind: 'returned',
        result: {
          value: { echo: 'hunter2-hunter2', 'hunter2-hunter2': 1 },
          content: [
            { kind: 'text', text: 'it is hunter2-hunter2' },
            {
              kind: 'file',
              name: 'hunter2-hunter2.txt',
              mediaType: 'text/plain',
              bytes: Buffer.from('hunter2-hunter2'),
            },
          ],
        },
        writeBacks: {
          files: [{ name: 'a', mediaType: 'text/plain', bytes: Buffer.from('hunter2-hunter2') }],
          messages: [{ format: 'card', body: { title: 'hunter2-hunter2' } }],
          injectedTools: [{ tool: 'a.b', description: 'hunter2-hunter2' }],
        },
      }),
      { arguments: { a: 'secret:KEY' } },
    );
    expect(all).not.toContain('hunter2');
    expect(JSON.stringify(ending)).not.toContain(JSON.stringify([...Buffer.from('hunter2')]).slice(1, -1));
    expect(ending).toMatchObject({ result: { value: { echo: '[secret KEY]', '[secret KEY]': 1 } } });
  });

  it.each<[string, RunEnding]>([
    [
      'failure',
      {
        kind: 'refused',
        how: 'failed',
        message: 'no hunter2-hunter2',
        code: 'hunter2-hunter2',
        writeBacks: NO_WRITE_BACKS,
      },
    ],
    [
      'throw',
      {
        kind: 'threw',
        isStarted: true,
        type: 'hunter2',
        cause: `at ${Buffer.from('hunter2-hunter2').toString('base64')} hunter2-hunter2`,
      },
    ],
    ['cut throw', { kind: 'threw', isStarted: true, type: 'Error', cause: 'this was hunter2-hunt' }],
    ['problem', { kind: 'invalid-arguments', problems: ['got hunter2-hunter2'] }],
    ['unsendable result', { kind: 'unserialisable', problem: '$["hunter2-hunter2"] is a function' }],
  ])('scrubs what a %s says', async (_, ending) => {
    const { all } = await run(() => ending, { arguments: { a: 'secret:KEY' } });
    expect(all.replaceAll('"type":"hunter2"', '')).not.toMatch(/hunter2/);
    expect(all).not.toContain('aHVudGVyM');
  });

  it('scrubs everything that it sends while it runs, on every way', async () => {
    const { told } = await run(
      async (order) => {
        order.onProgress({ message: 'with hunter2-hunter2' });
        order.onLog({ level: 'info', message: 'used hunter2-hunter2', data: { at: ['hunter2-hunter2'] } });
        await order.onNestedCall(
          {
            tool: 'x.y' as never,
            arguments: { a: 'hunter2-hunter2', b: 'Bearer hunter2-hunter2' },
            key: 'hunter2-hunter2',
          },
          new AbortController().signal,
        );
        (order as unknown as { onSomethingNew(...all: unknown[]): void }).onSomethingNew(
          { a: 'hunter2-hunter2' },
          'hunter2-hunter2',
        );
        return returned({});
      },
      { arguments: { a: 'secret:KEY' } },
    );
    expect(told).toStrictEqual([
      { message: 'with [secret KEY]' },
      { level: 'info', message: 'used [secret KEY]', data: { at: ['[secret KEY]'] } },
      { tool: 'x.y', arguments: { a: 'secret:KEY', b: 'Bearer ${secret:KEY}' }, key: '[secret KEY]' },
      [{ a: '[secret KEY]' }, '[secret KEY]'],
    ]);
  });

  it('answers a tool that asks by name, and scrubs that value too', async () => {
    const { ending } = await run(
      async ({ onSecret }) => {
        const [key, refused, broken] = await Promise.all(['KEY', 'OTHER', 'BROKEN'].map((name) => onSecret!(name)));
        return returned({ key: key as never, refused: refused as never, broken: broken as never });
      },
      { refused: ['OTHER'] },
    );
    expect(ending).toMatchObject({
      result: {
        value: {
          key: { kind: 'value', value: '[secret KEY]' },
          refused: { kind: 'refused', outcome: { error: { code: 'SECRET_DENIED' } } },
          broken: { kind: 'refused', outcome: { error: { code: 'SECRET_UNAVAILABLE' } } },
        },
      },
    });
  });

  it('does not enter a tool whose secret is refused or cannot be read', async () => {
    const refused = await run(() => returned({}), { arguments: { a: 'secret:KEY' }, refused: ['KEY'] });
    expect(refused).toMatchObject({
      entered: 0,
      ending: { kind: 'not-run', outcome: { executed: 'no', kind: 'denied' } },
    });
    const broken = await run(() => returned({}), { arguments: { a: 'secret:KEY', b: 'secret:BROKEN' } });
    expect(broken).toMatchObject({ entered: 0, ending: { outcome: { error: { code: 'SECRET_UNAVAILABLE' } } } });
    const stopped = await run(() => returned({}), { arguments: { a: 'secret:KEY' }, signal: AbortSignal.abort() });
    expect(stopped).toMatchObject({ entered: 0, ending: { kind: 'aborted' } });
  });

  it('says that a result became too large by its marks', async () => {
    const { ending } = await run(() => returned({ a: 'hunter2-hunter2 '.repeat(60) }), {
      arguments: { a: 'secret:KEY' },
      maxResultBytes: 500,
    });
    expect(ending).toMatchObject({ kind: 'too-large', limit: 500 });
  });
});

describe('a run with secrets that asks its caller, or notifies it,', () => {
  it('says marks in their place', async () => {
    const { all, told, ending } = await run(
      async (request) => {
        request.onLog({ level: 'info', message: '', notice: { value: { key: 'hunter2-hunter2' } } });
        return {
          kind: 'input-required',
          required: {
            requests: { ok: { kind: 'elicit', message: 'Is hunter2-hunter2 right?', schema: {} } },
            state: '{"answers":{},"state":"hunter2-hunter2"}',
          },
          unavailable: [],
          writeBacks: NO_WRITE_BACKS,
        };
      },
      { arguments: { key: 'secret:KEY' } },
    );
    expect(ending.kind).toBe('input-required');
    expect(told).toHaveLength(1);
    expect(all).not.toContain('hunter2');
  });
});
