import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { ProcessRunner, type ProcessRunnerOptions } from '../../src/worker/runners/process/process-runner.ts';
import type { RunEnding, ToolRunner } from '../../src/domain/ports/tool-runner.ts';
import { eventually } from '../support/process.ts';
import { isAlive } from './process-liveness.ts';
import { runRequest, type RequestChange, type Seen } from './run-request.ts';

const open = new Set<ProcessRunner>();

function newRunner(options: ProcessRunnerOptions = {}): ProcessRunner {
  const runner = new ProcessRunner({ abortGraceMs: 200, ...options });
  open.add(runner);
  return runner;
}

/** After every test, no process of the runner may be left, and nothing in the group of one. */
afterEach(async () => {
  for (const runner of open) {
    const pids = runner.pids;
    await runner.close();
    assert.deepEqual(runner.pids, []);
    assert.deepEqual(pids.filter(isAlive), []);
  }
  open.clear();
});

async function run(
  runner: Pick<ToolRunner, 'run'>,
  tool: string,
  change: RequestChange = {},
): Promise<{ ending: RunEnding; seen: Seen }> {
  const { request, seen } = runRequest(tool, change);
  return { ending: await runner.run(request), seen };
}

function valueOf<Value>(ending: RunEnding): Value {
  if (ending.kind !== 'returned') throw new Error(`The run ended otherwise: ${JSON.stringify(ending)}`);
  return ending.result.value as Value;
}

describe('ProcessRunner with friendly tools', () => {
  test('runs a tool with parsed arguments and setup', async () => {
    const runner = newRunner();
    const { ending } = await run(runner, 'friendly.greet', { args: { name: 'you' }, setup: { greeting: 'Moin' } });
    expect(ending).toMatchObject({ kind: 'returned', result: { value: 'Moin, you!' } });
  });

  test('gives the tool its caller, and its process a bare environment', async () => {
    process.env['SALLYPORT_TEST_SECRET'] = 'x';
    process.env['NODE_OPTIONS'] ??= '';
    const { ending } = await run(newRunner(), 'friendly.facts', { args: { a: [1] } });
    delete process.env['SALLYPORT_TEST_SECRET'];
    expect(ending).toMatchObject({
      result: {
        value: {
          args: { a: [1] },
          identity: { tenant: 'acme', subject: 'ann', agent: 'main' },
          untrusted: { name: 'Ann' },
          fence: 7,
          hasTime: true,
        },
      },
    });
    const { environment } = valueOf<{ environment: string[] }>(ending);
    expect(['HOME', 'LANG', 'PATH', 'TMPDIR', 'TZ']).toEqual(expect.arrayContaining(environment));
    expect(environment).toContain('PATH');
  });

  test('carries a file of 8 MiB unchanged, with message and offer', async () => {
    const { ending } = await run(newRunner(), 'friendly.sends', { args: { bytes: 8 * 1024 * 1024 } });
    if (ending.kind !== 'returned') throw new Error(JSON.stringify(ending));
    const [sent] = ending.writeBacks.files;
    expect(sent).toMatchObject({ name: 'random.bin', mediaType: 'application/x-random' });
    expect(sent?.bytes.byteLength).toBe(8 * 1024 * 1024);
    expect(createHash('sha256').update(sent!.bytes).digest('hex')).toBe(
      (ending.result.value as { sha256: string }).sha256,
    );
    expect(ending.writeBacks).toMatchObject({
      messages: [{ format: 'card', body: { title: 'sent' } }],
      injectedTools: [{ tool: 'friendly.greet', description: 'Greet too.' }],
    });
  });

  test('refuses a result above the limit of its tool', async () => {
    const { ending } = await run(newRunner(), 'friendly.sends', { args: { bytes: 5000 }, maxResultBytes: 4096 });
    expect(ending).toMatchObject({ kind: 'refused', code: 'WRITE_BACK_REFUSED' });
  });

  test('carries content blocks', async () => {
    const { ending } = await run(newRunner(), 'friendly.blocks');
    expect(ending).toMatchObject({
      result: {
        content: [{ kind: 'text' }, { kind: 'image', bytes: Buffer.from([1, 2, 3]) }, { kind: 'file', name: 'a.txt' }],
      },
    });
  });

  test('brings logs, output and progress of the call', async () => {
    const { seen } = await run(newRunner(), 'friendly.speaks');
    expect(seen.log).toEqual(
      expect.arrayContaining([
        { level: 'warn', message: 'by the context', data: { n: 1 } },
        { level: 'info', message: 'on stdout', data: { stream: 'stdout' } },
        { level: 'warn', message: 'on stderr', data: { stream: 'stderr' } },
      ]),
    );
    expect(seen.progress).toEqual([{ done: 1, total: 2, message: 'half' }]);
  });

  test('carries nested calls there and back', async () => {
    const { ending, seen } = await run(newRunner(), 'friendly.asks');
    expect(seen.nested).toEqual([{ tool: 'other.tool', arguments: { a: 1 }, key: 'k' }]);
    expect(ending).toMatchObject({ result: { value: { kind: 'ok', structured: { answered: true } } } });
  });

  test('distinguishes failures and denials from errors', async () => {
    const runner = newRunner();
    expect((await run(runner, 'friendly.fails')).ending).toMatchObject({
      kind: 'refused',
      how: 'failed',
      code: 'NOTE_GONE',
    });
    expect((await run(runner, 'friendly.refuses')).ending).toMatchObject({
      kind: 'refused',
      how: 'denied',
      message: 'Not your note.',
    });
  });

  test('keeps a process warm, replaces it after its runs, and starts a new generation afresh', async () => {
    const runner = newRunner({ runsPerProcess: 2 });
    const counts: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { ending } = await run(runner, 'friendly.count');
      counts.push(valueOf<{ calls: number }>(ending).calls);
    }
    expect(counts).toEqual([1, 2, 1]);
    const { ending } = await run(runner, 'friendly.count', { generation: '2' });
    expect(ending).toMatchObject({ result: { value: { calls: 1 } } });
    expect(runner.stats.started).toBe(3);
  });

  test('runs as many at a time as it has processes; the others wait their turn', async () => {
    const runner = newRunner({ maxProcesses: 2 });
    const endings = await Promise.all(Array.from({ length: 6 }, () => run(runner, 'friendly.count')));
    expect(endings.map(({ ending }) => ending.kind)).toEqual(Array.from({ length: 6 }, () => 'returned'));
    expect(runner.stats.started).toBe(2);
  });

  test('has one bound for shared processes and for those of one call', async () => {
    const runner = newRunner({ maxProcesses: 1 });
    const single = runner.perCall();
    const seen: number[] = [];
    const runs = Array.from({ length: 6 }, async (_, at) => {
      const { ending } = await run(at % 2 === 0 ? runner : single, 'friendly.count');
      seen.push(runner.pids.length);
      return valueOf<{ calls: number }>(ending).calls;
    });
    const counts = await Promise.all(runs);
    expect(Math.max(...seen)).toBe(1);
    // All of them are processes of this runner: one for each single call, and one at least for the others.
    expect(runner.stats.started).toBeGreaterThanOrEqual(4);
    // A process of one call counts from 1, whatever ran before it.
    expect(counts.filter((_, at) => at % 2 === 1)).toEqual([1, 1, 1]);
  });

  test('makes room for another module when all places are taken by idle ones', async () => {
    const runner = newRunner({ maxProcesses: 1 });
    await run(runner, 'friendly.greet');
    expect((await run(runner, 'hostile.forgesOtherRun')).ending).toMatchObject({ kind: 'returned' });
    expect(runner.stats.live).toBe(1);
  });

  test('runs the call elsewhere when an idle process was lost before the tool began', async () => {
    const runner = newRunner();
    await run(runner, 'friendly.count');
    const [pid] = runner.pids;
    const { request } = runRequest('friendly.count');
    process.kill(pid!, 'SIGKILL');
    // No turn of the event loop in between: the runner cannot have seen the exit yet.
    expect(await runner.run(request)).toMatchObject({ kind: 'returned', result: { value: { calls: 1 } } });
  });
});

describe('ProcessRunner that is stopped', () => {
  test('answers aborted when the tool obeys, and keeps the process', async () => {
    const runner = newRunner();
    const stop = new AbortController();
    const { ending } = await run(runner, 'friendly.obeys', { signal: stop.signal, onLog: () => stop.abort() });
    expect(ending).toEqual({ kind: 'aborted' });
    expect(runner.stats).toMatchObject({ live: 1, idle: 1 });
  });

  test('reports what a tool did that finished in spite of the abort', async () => {
    const stop = new AbortController();
    const { ending } = await run(newRunner(), 'friendly.finishes', { signal: stop.signal, onLog: () => stop.abort() });
    expect(ending).toMatchObject({ kind: 'returned', result: { value: { finished: true } } });
  });

  test('answers timed-out when the time is up, for any later answer of the tool', async () => {
    const { ending } = await run(newRunner(), 'friendly.finishes', { timeoutMs: 1500 });
    expect(ending).toEqual({ kind: 'timed-out' });
  });

  test('does not start what was aborted before', async () => {
    const runner = newRunner();
    expect((await run(runner, 'friendly.greet', { signal: AbortSignal.abort() })).ending).toEqual({ kind: 'aborted' });
    expect(runner.stats.started).toBe(0);
  });

  test('closes with a run under way: the run is aborted, nothing is left', async () => {
    const runner = newRunner();
    const started = new Promise<RunEnding>((resolve) => {
      const { request } = runRequest('hostile.busyLoop', { onLog: () => void runner.close() });
      void runner.run(request).then(resolve);
    });
    expect(await started).toEqual({ kind: 'aborted' });
    await runner.close();
    expect(runner.pids).toEqual([]);
    expect((await run(runner, 'friendly.greet', { args: { name: 'you' } })).ending).toEqual({ kind: 'aborted' });
  });
});

describe('ProcessRunner with hostile tools', () => {
  interface Case {
    readonly tool: string;
    readonly change?: RequestChange;
    readonly ending: object;
  }
  const crashed = (how: string): object => ({ kind: 'crashed', how: expect.stringContaining(how) });
  const threw = (what: string, type: string): Case => ({
    tool: 'throws',
    change: { args: { what } },
    ending: { kind: 'threw', isStarted: true, type },
  });
  const returns = (what: string, ending: object): Case => ({ tool: 'returns', change: { args: { what } }, ending });
  const unserialisable = (problem: string): object => ({
    kind: 'unserialisable',
    problem: expect.stringContaining(problem),
  });

  const cases: readonly Case[] = [
    { tool: 'busyLoop', change: { timeoutMs: 1500 }, ending: { kind: 'timed-out' } },
    { tool: 'neverEnds', change: { timeoutMs: 1500 }, ending: { kind: 'timed-out' } },
    { tool: 'exits', change: { args: { code: 0 } }, ending: crashed('exit code 0') },
    { tool: 'exits', change: { args: { code: 7 } }, ending: crashed('exit code 7') },
    { tool: 'aborts', ending: crashed('signal SIGABRT') },
    { tool: 'segfaults', ending: crashed('signal SIGSEGV') },
    { tool: 'eatsHeap', ending: crashed('memory') },
    { tool: 'eatsBuffers', ending: crashed('memory') },
    { tool: 'printsGarbage', ending: { kind: 'returned', result: { value: 'printed' } } },
    { tool: 'floodsProgress', ending: { kind: 'returned', result: { value: 'done' } } },
    threw('nothing', 'null'),
    threw('text', 'string'),
    threw('frozen', 'RangeError'),
    threw('getters', 'Object'),
    threw('proxy', 'Error'),
    { tool: 'throwsLater', ending: { kind: 'threw', type: 'TypeError' } },
    { tool: 'rejectsAside', ending: { kind: 'returned' } },
    returns('aFunction', unserialisable('$.f is a function')),
    returns('aMap', unserialisable('$ is an instance of Map')),
    returns('aBigInt', unserialisable('$ is a bigint')),
    returns('aCycle', unserialisable('$.self contains itself')),
    returns('NaN', unserialisable('$ is NaN')),
    returns('aGetter', unserialisable('reading $.x threw')),
    returns('huge', { kind: 'too-large', limit: 16 * 1024 * 1024 }),
    { tool: 'closesChannel', ending: { kind: 'crashed' } },
    { tool: 'writesHugeFrame', ending: crashed('protocol: a frame of 4294967280 bytes') },
    { tool: 'writesGarbageFrame', ending: crashed('protocol: a value of type 0xc1') },
    { tool: 'forgesOtherRun', ending: { kind: 'returned', result: { value: 'true answer' } } },
    { tool: 'floodsChannel', ending: crashed('it flooded its channel') },
    { tool: 'doesNotExist', ending: { kind: 'threw', isStarted: false, type: 'ToolMissing' } },
  ];

  test.each(cases)(
    'answers $tool $change.args with $ending, and its neighbour finishes',
    async ({ tool, change, ending }) => {
      const runner = newRunner({ maxHeapMb: 64, maxResidentBytes: 320 * 1024 * 1024 });
      const [hostile, neighbour] = await Promise.all([
        run(runner, `hostile.${tool}`, change),
        run(runner, 'friendly.asks'),
      ]);
      expect(hostile.ending).toMatchObject(ending);
      expect(neighbour.ending).toMatchObject({ kind: 'returned', result: { value: { kind: 'ok' } } });
      expect((await run(runner, 'hostile.forgesOtherRun')).ending).toMatchObject({ kind: 'returned' });
    },
  );

  test('has killed a tool that ignores its abort when it answers', async () => {
    const runner = newRunner();
    const stop = new AbortController();
    let pids: number[] = [];
    const { ending } = await run(runner, 'hostile.neverEnds', {
      signal: stop.signal,
      onLog: () => {
        pids = runner.pids;
        stop.abort();
      },
    });
    expect(ending).toEqual({ kind: 'aborted' });
    expect(pids).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('brings all a tool printed in one go before it answered', async () => {
    const { seen } = await run(newRunner(), 'hostile.printsAtOnce');
    expect(seen.log.at(-1)?.message).toBe('the last line');
  });

  test('lets the worker answer others while a tool blocks its own loop', async () => {
    const runner = newRunner();
    const stop = new AbortController();
    let looping!: () => void;
    const isLooping = new Promise<void>((resolve) => (looping = resolve));
    const busy = run(runner, 'hostile.busyLoop', { signal: stop.signal, onLog: looping });
    await isLooping;
    expect((await run(runner, 'friendly.greet', { args: { name: 'you' } })).ending).toMatchObject({ kind: 'returned' });
    stop.abort();
    expect((await busy).ending).toEqual({ kind: 'aborted' });
  });

  test('keeps output garbage out of the channel, and caps it', async () => {
    const { seen } = await run(newRunner(), 'hostile.printsGarbage');
    const text = seen.log.map(({ message }) => message).join('\n');
    expect(text).not.toContain('\u001B');
    expect(text.length).toBeLessThan(270_000);
    expect(text.length).toBeGreaterThan(250_000);
  });

  test('thins out a million reports of progress', async () => {
    const { seen } = await run(newRunner(), 'hostile.floodsProgress');
    expect(seen.progress.length).toBeGreaterThan(0);
    expect(seen.progress.length).toBeLessThan(300);
    for (const { done = 0, total = 0 } of seen.progress) expect(done).toBeLessThanOrEqual(total);
  });

  test('does not use a process again in which an error went unhandled', async () => {
    const runner = newRunner();
    const first = await run(runner, 'hostile.rejectsAside');
    expect(first.seen.log).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 'error', data: { cause: expect.stringContaining('nobody cares') } }),
      ]),
    );
    const second = await run(runner, 'hostile.rejectsAside');
    expect(valueOf<number>(second.ending)).not.toBe(valueOf<number>(first.ending));
  });

  test.each([{ stay: false }, { stay: true }])('leaves no grandchild behind, staying: $stay', async ({ stay }) => {
    const stop = new AbortController();
    const { ending, seen } = await run(newRunner(), 'hostile.startsGrandchild', {
      args: { stay },
      signal: stop.signal,
      onLog: () => stay && stop.abort(),
    });
    expect(ending.kind).toBe(stay ? 'aborted' : 'crashed');
    const pid = Number(/grandchild (\d+)/.exec(seen.log.map(({ message }) => message).join('\n'))?.[1]);
    expect(pid).toBeGreaterThan(0);
    await eventually(() => !isAlive(pid), { what: `the end of grandchild ${pid}` });
  });

  test('answers timed-out for a module that never finishes loading', async () => {
    const { ending } = await run(newRunner(), 'never-loads.x', { timeoutMs: 1500 });
    expect(ending).toEqual({ kind: 'timed-out' });
  });
});
