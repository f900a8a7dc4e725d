import type { JsonObject } from '../../base/json.ts';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { file, image, structured, text } from '../../modules/authoring/content-blocks.ts';
import type { ModuleDefinition, ToolDefinition } from '../../modules/authoring/define-module.ts';
import type { ToolContext } from '../../modules/authoring/tool-context.ts';
import { denied, ToolFailure } from '../../modules/authoring/tool-failure.ts';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import { toolId, type CallId } from '../../domain/identity/ids.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { NestedCallRequest, Progress, RunEnding, ToolLogLine } from '../../domain/ports/tool-runner.ts';
import type { RunFacts } from './open-context.ts';
import { runTool } from './run-tool.ts';

type Run = (args: never, ctx: ToolContext<never>) => unknown;

const facts: RunFacts = {
  toolId: toolId('m', 't'),
  maxResultBytes: 20_000,
  callId: '0.aaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbb' as CallId,
  fence: 4,
  identity: { tenant: 'acme', subject: 'ann', agent: 'main' },
  untrusted: { name: 'Ann' },
  arguments: {},
  setup: {},
  timeoutMs: 5000,
};
const answered: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };

async function enter(
  run: Run,
  change: { tool?: Partial<ToolDefinition>; module?: object; facts?: Partial<RunFacts>; signal?: AbortSignal } = {},
) {
  const seen = { progress: [] as Progress[], log: [] as ToolLogLine[], nested: [] as NestedCallRequest[] };
  const module = {
    id: 'm',
    version: '1',
    description: 'x',
    tools: { t: { description: 'x', input: { type: 'object' }, run, ...change.tool } },
    ...change.module,
  } as unknown as ModuleDefinition;
  const ending = await runTool(
    () => Promise.resolve(module),
    't',
    { ...facts, ...change.facts },
    {
      signal: change.signal ?? new AbortController().signal,
      throwIfAborted: () => change.signal?.throwIfAborted(),
      onProgress: (progress) => seen.progress.push(progress),
      onLog: (line) => seen.log.push(line),
      onServiceCall: () => Promise.reject(new Error('no services')),
      onNestedCall: (request) => (seen.nested.push(request), Promise.resolve(answered)),
      onSecret: (name) => Promise.resolve({ kind: 'value', value: `value of ${name}` }),
    },
  );
  return { ending, ...seen };
}
const endingOf = async (run: Run, change = {}): Promise<RunEnding> => (await enter(run, change)).ending;

describe('runTool', () => {
  test('answers with the returned value, a copy of it', async () => {
    expect(await endingOf(() => ({ at: new Date(0) }))).toEqual({
      kind: 'returned',
      result: { value: { at: '1970-01-01T00:00:00.000Z' } },
      writeBacks: NO_WRITE_BACKS,
    });
    expect(await endingOf(() => undefined)).toMatchObject({ kind: 'returned', result: {} });
  });

  test('gives run its arguments and the parsed setup, and keeps the originals from it', async () => {
    const args = { list: [1], more: true };
    const ending = await endingOf(
      ((parsed: { list: number[] }, ctx: { setup: unknown }) => {
        parsed.list.push(2);
        return { parsed, setup: ctx.setup };
      }) as unknown as Run,
      {
        tool: {
          input: z.object({
            list: z.array(z.number()),
            more: z.boolean().default(true),
          }),
        },
        module: { setup: z.object({ root: z.string().default('/') }) },
        facts: { arguments: args },
      },
    );
    expect(ending).toMatchObject({
      result: { value: { parsed: { list: [1, 2], more: true }, setup: { root: '/' } } },
    });
    expect(args).toEqual({ list: [1], more: true });
  });

  test('is not entered when its schema makes something else of the arguments', async () => {
    const input = z.object({ n: z.string().transform(Number), more: z.boolean().default(true) });
    const enter = async (given: JsonObject, step?: 'parsed' | 'normalise') => {
      const facts = { arguments: given, ...(step === undefined ? {} : { step }) };
      return endingOf(((parsed: unknown) => ({ parsed })) as unknown as Run, { tool: { input }, facts });
    };
    expect(await enter({ n: '5', extra: 1 })).toEqual({
      kind: 'changed-arguments',
      changes: ['n: changed', 'extra: removed', 'more: added'],
    });
    // The arguments of a normalising tool were parsed before the rules judged them, and are not parsed again.
    expect(await enter({ n: 5 }, 'parsed')).toMatchObject({ result: { value: { parsed: { n: 5 } } } });
    expect(await enter({ n: '5' }, 'normalise')).toEqual({ kind: 'normalised', arguments: '{"more":true,"n":5}' });
    expect(await enter({ n: 5 }, 'normalise')).toMatchObject({ kind: 'invalid-arguments' });
  });

  test('keeps the originals from a tool whose schema copies nothing', async () => {
    const args = { list: [1] };
    const setup = { list: [1] };
    const run = ((given: { list: number[] }, ctx: { setup: { list: number[] } }) => {
      given.list.push(2);
      ctx.setup.list.push(2);
    }) as unknown as Run;
    expect(await endingOf(run, { facts: { arguments: args, setup } })).toMatchObject({ kind: 'returned' });
    expect({ args, setup }).toEqual({ args: { list: [1] }, setup: { list: [1] } });
  });

  test('refuses arguments that only the schema itself can judge', async () => {
    const input = z
      .object({ from: z.number(), to: z.number() })
      .refine(({ from, to }) => from <= to, { message: 'from is after to', path: ['from'] });
    expect(await endingOf(() => 'ran', { tool: { input }, facts: { arguments: { from: 2, to: 1 } } })).toEqual({
      kind: 'invalid-arguments',
      problems: ['from: from is after to'],
    });
  });

  test('waits for slow schemas and tools, with any kind of promise', async () => {
    const later = z.object({ n: z.number() }).refine(async ({ n }) => n > 1, 'too small');
    const run = (({ n }: { n: number }) => n) as unknown as Run;
    const change = (n: number) => ({ tool: { input: later }, module: { setup: later }, facts: { arguments: { n } } });
    const setup = { n: 2 };
    const withSetup = (n: number) => ({ ...change(n), facts: { arguments: { n }, setup } });
    expect(await endingOf(run, withSetup(2))).toMatchObject({ kind: 'returned', result: { value: 2 } });
    expect(await endingOf(run, withSetup(1))).toMatchObject({ kind: 'invalid-arguments' });
    expect(await endingOf(run, change(2))).toMatchObject({ kind: 'threw', isStarted: false, type: 'SetupInvalid' });

    // oxlint-disable-next-line unicorn/no-thenable -- a thenable that is no Promise is what this test needs
    const foreign = { then: (resolve: (result: unknown) => void) => resolve({ issues: [{ message: 'no' }] }) };
    const input = { '~standard': { version: 1, vendor: 'x', validate: () => foreign } } as unknown as typeof later;
    expect(await endingOf(run, { tool: { input } })).toEqual({ kind: 'invalid-arguments', problems: ['no'] });
    // oxlint-disable-next-line unicorn/no-thenable -- a thenable that is no Promise is what this test needs
    const answering = { then: (resolve: (result: unknown) => void) => resolve(5) };
    expect(await endingOf(() => answering)).toMatchObject({ kind: 'returned', result: { value: 5 } });
  });

  test('does not enter a tool that was stopped while its schema took its time', async () => {
    const stop = new AbortController();
    const input = z.object({}).refine(async () => (stop.abort(), true));
    let entered = false;
    const ending = await endingOf((() => (entered = true)) as Run, { tool: { input }, signal: stop.signal });
    expect(ending.kind).toBe('threw');
    expect(entered).toBe(false);
  });

  test('reports a wrong setup, a missing tool and a module that does not load to the operator', async () => {
    expect(await endingOf(() => 1, { module: { setup: z.object({ key: z.string() }) } })).toMatchObject({
      kind: 'threw',
      type: 'SetupInvalid',
    });
    expect(await endingOf(() => 1, { module: { tools: {} } })).toMatchObject({
      kind: 'threw',
      isStarted: false,
      type: 'ToolMissing',
    });
    expect(await endingOf(() => 1, { module: { tools: Object.create({ t: { run: () => 1 } }) } })).toMatchObject({
      type: 'ToolMissing',
    });
  });

  test('keeps what a ToolFailure and a denial say, with the write-backs made before', async () => {
    const failing = await endingOf(((_: never, ctx: ToolContext) => {
      ctx.sendMessage({ format: 'card', body: { a: 1 } });
      throw new ToolFailure('no such note', { code: 'NOTE_GONE' });
    }) as Run);
    expect(failing).toEqual({
      kind: 'refused',
      how: 'failed',
      message: 'no such note',
      code: 'NOTE_GONE',
      writeBacks: { ...NO_WRITE_BACKS, messages: [{ format: 'card', body: { a: 1 } }] },
    });
    expect(await endingOf(() => denied('not your note'))).toMatchObject({
      kind: 'refused',
      how: 'denied',
      message: 'not your note',
    });
  });

  test('knows a ToolFailure of another copy of the package', async () => {
    const foreign = Object.assign(new Error('from elsewhere'), { [Symbol.for('sallyport.tool-failure')]: 'failed' });
    expect(await endingOf(() => Promise.reject(foreign))).toMatchObject({ kind: 'refused', message: 'from elsewhere' });
  });

  const thrown: readonly (readonly [string, unknown, string])[] = [
    ['null', null, 'null'],
    ['text', 'x', 'string'],
    ['a frozen error', Object.freeze(new TypeError('x')), 'TypeError'],
    [
      'a proxy bomb',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('b');
          },
        },
      ),
      'Error',
    ],
  ];
  test.each(thrown)('survives a tool that throws %s', async (_what, value, type) => {
    // oxlint-disable-next-line typescript/only-throw-error -- the test throws values of all kinds
    expect(
      await endingOf(() => {
        throw value;
      }),
    ).toMatchObject({ kind: 'threw', type });
  });

  test('says where a result cannot be sent, and when it is too large', async () => {
    expect(await endingOf(() => ({ list: [{ f: () => 1 }] }))).toEqual({
      kind: 'unserialisable',
      problem: '$.list[0].f is a function',
    });
    expect(await endingOf(() => 'x'.repeat(20_000))).toMatchObject({ kind: 'too-large', limit: 20_000 });
    expect(await endingOf(() => 'x'.repeat(19_800))).toMatchObject({ kind: 'returned' });
    expect(await endingOf(() => Array.from({ length: 5000 }, () => 1e300))).toMatchObject({ kind: 'too-large' });
    expect(await endingOf(() => Array.from({ length: 5000 }, () => 1))).toMatchObject({ kind: 'returned' });
  });

  test('counts files and the answer together', async () => {
    const run = ((_: never, ctx: ToolContext) => {
      ctx.sendFile({ name: 'a', bytes: new Uint8Array(15_000) });
      return 'x'.repeat(6000);
    }) as Run;
    expect(await endingOf(run)).toMatchObject({ kind: 'too-large' });
  });

  test('distinguishes content blocks from JSON, and takes one structured block for the value', async () => {
    const bytes = Buffer.from([1, 2, 3]);
    expect(await endingOf(() => [text('see:'), image(bytes, 'image/png'), structured({ n: 1 })])).toMatchObject({
      result: {
        value: { n: 1 },
        content: [
          { kind: 'text', text: 'see:' },
          { kind: 'image', mediaType: 'image/png', bytes },
        ],
      },
    });
    expect(await endingOf(() => ({ kind: 'text', text: 'json' }))).toMatchObject({
      result: { value: { kind: 'text', text: 'json' } },
    });
    expect(await endingOf(() => text('one'))).toMatchObject({ result: { content: [{ kind: 'text', text: 'one' }] } });
    expect(await endingOf(() => [text('a'), 5])).toMatchObject({ kind: 'unserialisable' });
    expect(await endingOf(() => image(bytes, 'png'))).toMatchObject({
      kind: 'unserialisable',
      problem: expect.stringContaining('mediaType'),
    });
    expect(await endingOf(() => Array.from({ length: 1001 }, () => text('')))).toMatchObject({
      kind: 'unserialisable',
    });
  });

  test('cleans names of files', async () => {
    const nameOf = async (name: string): Promise<unknown> => {
      const ending = await endingOf(() => file(name, Buffer.alloc(1)));
      const [block] = ending.kind === 'returned' ? (ending.result.content ?? []) : [];
      return block?.kind === 'file' ? block.name : ending;
    };
    expect(await nameOf('../../etc/passwd')).toBe('passwd');
    expect(await nameOf('a\nb\u0000\u202Efdp.exe')).toBe('abfdp.exe');
    expect(await nameOf('..')).toBe('file');
    expect(await nameOf(`${'ä'.repeat(300)}.pdf`)).toBe(`${'ä'.repeat(98)}.pdf`);
  });
});

describe('the context of a run', () => {
  test('has what a tool may know and nothing else', async () => {
    const { ending } = await enter(((_: never, ctx: ToolContext) => Object.keys(ctx).sort()) as Run);
    expect(ending).toMatchObject({
      result: {
        value: [
          'call',
          'callId',
          'cost',
          'fence',
          'identity',
          'log',
          'offerTool',
          'platform',
          'progress',
          'secrets',
          'sendFile',
          'sendMessage',
          'services',
          'setup',
          'signal',
          'timeLeftMs',
          'trace',
          'untrusted',
        ],
      },
    });
  });

  test('sums up the cost of the call, and reports nothing when no cost was counted', async () => {
    const counted = (...amounts: number[]): Promise<RunEnding> =>
      endingOf(((_: never, ctx: ToolContext) => amounts.forEach((amount) => ctx.cost(amount))) as Run);
    expect(await counted(0.25, 1)).toMatchObject({ writeBacks: { cost: 1.25 } });
    expect(await counted(0)).toMatchObject({ writeBacks: { cost: 0 } });
    expect(await counted(900_000, 900_000)).toMatchObject({ writeBacks: { cost: 1_000_000 } });
    expect(await counted()).toMatchObject({ writeBacks: NO_WRITE_BACKS });
    for (const wrong of [-1, Number.NaN, Infinity, '5' as unknown as number]) {
      expect(await counted(wrong)).toMatchObject({ kind: 'threw', type: 'TypeError' });
    }
  });

  test('can be taken apart, spread and not changed', async () => {
    const { ending, progress, log } = await enter(((_: never, ctx: ToolContext) => {
      const spread = { ...ctx } as unknown as Record<string, (given: unknown) => void>;
      const [report, send] = [spread['progress']!, spread['sendMessage']!];
      report({ done: 1 });
      send({ format: 'card', body: {} });
      const info = Object.entries(ctx.log).find(([level]) => level === 'info')![1] as (message: string) => void;
      info('apart');
      return { frozen: Object.isFrozen(ctx), same: ctx.untrusted === ctx.untrusted && ctx.log === ctx.log };
    }) as Run);
    expect(ending).toMatchObject({
      result: { value: { frozen: true, same: true } },
      writeBacks: { messages: [{ format: 'card', body: {} }] },
    });
    expect({ progress, log }).toEqual({ progress: [{ done: 1 }], log: [{ level: 'info', message: 'apart' }] });
  });

  test('passes progress, logs and nested calls on', async () => {
    const { ending, progress, log, nested } = await enter((async (_: never, ctx: ToolContext) => {
      ctx.progress({ done: 3, total: 2 });
      ctx.log.warn('hm\u001B[2J', { at: new Date(0), f: 1 });
      ctx.log.info('odd', { f: () => 1 });
      ctx.offerTool({ tool: 'notes.edit', description: 'Edits.' });
      return (await ctx.call('notes.search', { q: 'x' }, { key: 'k', deadlineMs: 100 })).kind;
    }) as Run);
    expect(ending).toMatchObject({
      result: { value: 'ok' },
      writeBacks: { injectedTools: [{ tool: 'notes.edit', description: 'Edits.' }] },
    });
    expect(progress).toEqual([{ done: 2, total: 2 }]);
    expect(log).toEqual([
      { level: 'warn', message: 'hm\uFFFD[2J', data: { at: '1970-01-01T00:00:00.000Z', f: 1 } },
      { level: 'info', message: 'odd', data: { problem: 'data.f is a function' } },
    ]);
    expect(nested).toEqual([{ tool: 'notes.search', arguments: { q: 'x' }, key: 'k', deadlineMs: 100 }]);
  });

  test('refuses nested calls that are none, and all after an abort', async () => {
    expect(await endingOf(((_: never, ctx: ToolContext) => ctx.call('nodot', {})) as Run)).toMatchObject({
      kind: 'threw',
      type: 'TypeError',
    });
    const stop = new AbortController();
    const { ending, nested } = await enter(
      ((_: never, ctx: ToolContext) => {
        stop.abort();
        return ctx.call('a.b', {});
      }) as Run,
      { signal: stop.signal },
    );
    expect(ending.kind).toBe('threw');
    expect(nested).toEqual([]);
  });

  test('is closed when the run has ended', async () => {
    let kept: ToolContext | undefined;
    const { log, progress, nested } = await enter(((_: never, ctx: ToolContext) => void (kept = ctx)) as Run);
    kept!.log.info('late');
    kept!.progress({ done: 1 });
    await expect(kept!.call('a.b', {})).rejects.toThrow('ended');
    expect(() => kept!.sendFile({ name: 'a', bytes: Buffer.alloc(1) })).toThrow('ended');
    expect({ log, progress, nested }).toEqual({ log: [], progress: [], nested: [] });
  });

  test('cuts the log of a call at 256 KB, and says so once', async () => {
    const { log } = await enter(((_: never, ctx: ToolContext) => {
      for (let index = 0; index < 1000; index += 1) ctx.log.info('x'.repeat(1000));
    }) as Run);
    expect(log.length).toBe(262);
    expect(log.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('cut here') });
  });
});

describe('ctx.sendFile with a path', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  const send = (path: string, name?: string): Promise<RunEnding> =>
    endingOf(((_: never, ctx: ToolContext) => ctx.sendFile(name === undefined ? { path } : { path, name })) as Run);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-send-'));
    writeFileSync(at('real.bin'), Buffer.from([0, 255, 10]));
    symlinkSync(at('real.bin'), at('link'));
    execFileSync('mkfifo', [at('fifo')]);
    writeFileSync(at('sparse'), '');
    truncateSync(at('sparse'), 10 * 1024 ** 3);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('sends the bytes of a regular file', async () => {
    expect(await send(at('real.bin'))).toMatchObject({
      writeBacks: {
        files: [{ name: 'real.bin', mediaType: 'application/octet-stream', bytes: Buffer.from([0, 255, 10]) }],
      },
    });
    expect(await send(at('real.bin'), 'shown.bin')).toMatchObject({ writeBacks: { files: [{ name: 'shown.bin' }] } });
  });

  const refused: readonly (readonly [string, () => string, string])[] = [
    ['a symbolic link', () => at('link'), 'symbolic link'],
    ['a FIFO', () => at('fifo'), 'not a regular file'],
    ['a device', () => '/dev/zero', 'not a regular file'],
    ['a folder', () => folder, 'not a regular file'],
    ['a sparse file of 10 GB', () => at('sparse'), '10737418240 bytes'],
    ['a file that is not there', () => at('nothing'), 'cannot be opened'],
    ['a file of /proc', () => '/proc/self/environ', 'more content than its size says'],
  ];
  test.each(refused)('refuses %s', async (_what, path, problem) => {
    expect(await send(path())).toMatchObject({
      kind: 'refused',
      how: 'failed',
      code: 'FILE_REFUSED',
      message: expect.stringContaining(problem),
    });
  });
});
