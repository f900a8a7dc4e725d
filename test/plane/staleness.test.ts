import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client, Outcome, SessionHandle } from '../../src/exports/client.ts';
import { unknownActor } from '../../src/domain/identity/actor.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { withdrawModules } from '../../src/operate/withdraw-modules.ts';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, endingsOf, holdRun, marksOf, runOnce, untilMarks, untilStoreTime } from './support/watch-plane.ts';

/** A module whose tools write a mark when they run, can be held, and return the version of the file that ran. */
function notesText(version: string, runner = 'inline', tools: readonly string[] = ['add']): string {
  return `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const text = { type: 'string' };
export default defineModule({
  id: 'notes',
  version: '${version}',
  description: 'Notes.',
  runner: '${runner}',
  tools: Object.fromEntries(${JSON.stringify(tools)}.map((name) => [name, tool({
    // One that is called "list" is the same in all versions.
    description: name + (name === 'list' ? ' as always.' : ' as version ${version} does.'),
    input: jsonSchema({ type: 'object', properties: { file: text, label: text, until: text } }),
    effect: 'unsafe',
    run: async ({ file, label, until }, ctx) => {
      appendFileSync(file, \`S \${label} \${ctx.callId} \${ctx.fence} \${process.pid}\\n\`);
      while (until !== undefined && !existsSync(until)) await pause(10);
      return { version: '${version}' };
    },
  })])),
});
`;
}

describe.each(BACKENDS)('a tool that changes on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  const folders: ModuleFolder[] = [];
  beforeEach(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(async () => {
    await plane.stop();
    for (const folder of folders.splice(0)) folder.dispose();
  });

  function modulesOf(version: string, runner?: string, tools?: readonly string[]): ModuleFolder {
    const folder = createModuleFolder({ 'notes.mjs': notesText(version, runner, tools) });
    folders.push(folder);
    return folder;
  }

  /** Starts a worker with a lease so long that a busy machine causes no second delivery: these tests count calls that are handed back. */
  const startWorker: StagedPlane['startWorker'] = (options, crash) =>
    plane.startWorker({ leaseMs: 60_000, ...options }, crash);

  async function untilPublished(version: string): Promise<void> {
    await eventually(async () => (await plane.store.readCatalog()).modules[0]?.version === version, {
      what: `version ${version} in the catalog`,
    });
  }

  it('is stale for a caller with the old definition, who refreshes and runs it once under the same key', async () => {
    const folder = modulesOf('1.0.0');
    await startWorker({ modules: folder.path, watch: true });
    const client = await plane.connectOutdated();
    const before = await callFor(plane, session, 'notes.add', runOnce(plane, 'before'), { client });
    expect(before.structured).toStrictEqual({ version: '1.0.0' });

    folder.write('notes.mjs', notesText('1.1.0'));
    await untilPublished('1.1.0');
    const args = runOnce(plane, 'changed');
    const outcome = await callFor(plane, session, 'notes.add', args, { client, key: 'changed' });
    expect(outcome).toMatchObject({ kind: 'ok', structured: { version: '1.1.0' } });
    expect(marksOf(plane, 'S', 'changed')).toHaveLength(1);
    const callId = callIdFor(session.id, 'changed')!;
    expect(await endingsOf(plane, callId)).toMatchObject([{ outcome: 'stale', code: 'TOOL_STALE' }]);
    expect(await endingsOf(plane, `${callId}~2`)).toMatchObject([{ outcome: 'ok' }]);
    // The released key now stands for the call that ran.
    expect(await callFor(plane, session, 'notes.add', args, { client, key: 'changed' })).toStrictEqual(outcome);
    expect(marksOf(plane, 'S', 'changed')).toHaveLength(1);
  });

  it.each(['inline', 'process'])(
    'is served on %s in its old form while its new file is broken, and the fleet view shows it',
    async (runner) => {
      const folder = modulesOf('1.0.0', runner);
      const worker = await startWorker({ modules: folder.path, watch: true });
      folder.write('notes.mjs', 'export default {{');
      const broken = await eventually(async () => (await plane.store.listWorkers())[0]?.broken[0], {
        what: 'the broken module in the fleet view',
      });
      expect(broken).toMatchObject({ id: 'notes', reason: expect.stringContaining('SyntaxError') as string });
      const outcome = await callFor(plane, session, 'notes.add', runOnce(plane, 'broken'));
      expect(outcome.structured).toStrictEqual({ version: '1.0.0' });
      expect(worker.process.stderr).toMatch(/module not loaded/);

      folder.write('notes.mjs', notesText('1.2.0', runner));
      await untilPublished('1.2.0');
      const repaired = await callFor(plane, session, 'notes.add', runOnce(plane, 'repaired'));
      expect(repaired.structured).toStrictEqual({ version: '1.2.0' });
      expect((await plane.store.listWorkers())[0]?.broken).toStrictEqual([]);
    },
  );

  it('is refused a second after it was withdrawn by force, though its worker lives and it was called before', async () => {
    await startWorker({ modules: modulesOf('1.0.0').path });
    expect((await callFor(plane, session, 'notes.add', runOnce(plane, 'before'))).kind).toBe('ok');
    const who = { actor: unknownActor('cli') };
    await withdrawModules(plane.store, { modules: ['notes'], force: true }, who);
    await untilStoreTime(plane, 1100);
    const answer = await plane.client.call(session, 'notes.add', runOnce(plane, 'after'));
    expect(answer).toMatchObject({ kind: 'refused', outcome: { executed: 'no', error: { code: 'TOOL_UNKNOWN' } } });
    expect(marksOf(plane, 'S', 'after')).toHaveLength(0);
  });

  it('in a rolling deploy waits for the worker that serves it while that one is busy', async () => {
    await startWorker({ modules: modulesOf('1.0.0').path });
    await startWorker({ modules: modulesOf('1.1.0').path, concurrency: 1 });
    await untilPublished('1.1.0');
    const first = holdRun(plane, 'first');
    const second = holdRun(plane, 'second');
    // The other worker may get a call first; it hands the call back.
    const calling = [
      callFor(plane, session, 'notes.add', first.args),
      callFor(plane, session, 'notes.add', second.args),
    ];
    await untilMarks(plane, 'S', undefined);
    await untilStoreTime(plane, 300);
    for (const run of [first, second]) run.release();
    expect(await Promise.all(calling)).toMatchObject([
      { kind: 'ok', structured: { version: '1.1.0' } },
      { kind: 'ok', structured: { version: '1.1.0' } },
    ]);
    expect(marksOf(plane, 'S')).toHaveLength(2);
  });

  it('in a rolling deploy reaches the one new worker past the old ones, without a stale ending on the way', async () => {
    const old = modulesOf('1.0.0', 'inline', ['add', 'list']).path;
    for (let each = 0; each < 2; each += 1) await startWorker({ modules: old });
    const starting = startWorker({ modules: modulesOf('1.1.0', 'inline', ['add', 'list', 'remove']).path });
    await untilPublished('1.1.0');
    // Calls begin as soon as the new version is in the catalog: first one at a time, then many at once.
    const tools = ['notes.remove', 'notes.add', 'notes.list'];
    const callNth = (index: number) => callFor(plane, session, tools[index % 3]!, runOnce(plane, `call-${index}`));
    const outcomes: Outcome[] = [];
    for (let index = 0; index < 60; index += 1) outcomes.push(await callNth(index));
    outcomes.push(...(await Promise.all(Array.from({ length: 150 }, (_, index) => callNth(60 + index)))));
    await starting;

    expect(countOf((await endingsOf(plane)).map(({ outcome, code }) => code ?? outcome!))).toStrictEqual({ ok: 210 });
    const versions = outcomes.map(({ structured }) => (structured as { version: string }).version);
    const changed = versions.filter((_, index) => index % 3 !== 2);
    expect(countOf(changed)).toStrictEqual({ '1.1.0': 140 });
    // A call of an unchanged tool is run by the worker that gets it, and is never handed back.
    expect(countOf(versions)['1.0.0']).toBeGreaterThan(0);
    const marks = marksOf(plane, 'S');
    expect(marks).toHaveLength(210);
    const untouched = marks.filter(({ label }) => Number(label.slice('call-'.length)) % 3 === 2);
    expect(countOf(untouched.map(({ fence }) => String(fence)))).toStrictEqual({ '1': 70 });
  });

  it('is known to be served from the moment at which it is published', async () => {
    await expect(startWorker({ modules: modulesOf('1.0.0').path }, 'after writeCatalog')).rejects.toThrow('Ended');
    const [module] = (await plane.store.readCatalog()).modules;
    const [worker] = await plane.store.listWorkers();
    expect(worker?.toolDigests).toStrictEqual([module!.tools[0]!.digest]);
  });

  it('waits for its one busy worker no longer than its deadline, and goes round the others slowly', async () => {
    const old = modulesOf('1.0.0', 'inline', ['add', 'list']).path;
    for (let each = 0; each < 2; each += 1) await startWorker({ modules: old, concurrency: 1 });
    await startWorker({ modules: modulesOf('1.1.0', 'inline', ['add', 'list']).path, concurrency: 1 });
    await untilPublished('1.1.0');
    const busy = holdRun(plane, 'busy');
    const running = callFor(plane, session, 'notes.add', busy.args);
    await untilMarks(plane, 'S', 'busy');
    const from = await plane.store.now();
    const waiting = Array.from({ length: 8 }, (_, index) =>
      callFor(plane, session, 'notes.add', runOnce(plane, `waits-${index}`)),
    );
    const late = await callFor(plane, session, 'notes.add', runOnce(plane, 'late'), { deadlineMs: 1500 });
    expect(late).toMatchObject({ kind: 'expired', executed: 'no' });
    // Calls that wait for the new version take no slot: the old workers, with one slot each, go on serving what they have.
    const others = Array.from({ length: 10 }, (_, index) =>
      callFor(plane, session, 'notes.list', runOnce(plane, `other-${index}`)),
    );
    expect(countOf((await Promise.all(others)).map(({ kind }) => kind))).toStrictEqual({ ok: 10 });
    busy.release();
    expect(countOf((await Promise.all([running, ...waiting])).map(({ kind }) => kind))).toStrictEqual({ ok: 9 });
    const seconds = ((await plane.store.now()) - from) / 1000;
    const hops = marksOf(plane, 'S').filter(({ label }) => label.startsWith('waits-'));
    for (const { fence } of hops) expect(fence).toBeLessThanOrEqual(4 + 100 * seconds);
    expect(hops).toHaveLength(8);
    expect(marksOf(plane, 'S', 'late')).toHaveLength(0);
  });

  it('in a rolling deploy runs every call once, as the old or the new caller saw it, without rejection loops', async () => {
    const oldCaller = await plane.connectOutdated();
    const old = await startWorker({ modules: modulesOf('1.0.0').path });
    await oldCaller.catalog();
    await startWorker({ modules: modulesOf('1.1.0').path });
    await untilPublished('1.1.0');
    const newCaller = await plane.connect();

    const callAll = (client: Client, name: string) =>
      Array.from({ length: 100 }, (_, index) =>
        callFor(plane, session, 'notes.add', runOnce(plane, `${name}-${index}`), { client, key: `${name}-${index}` }),
      );
    const outcomes = await Promise.all([...callAll(oldCaller, 'old'), ...callAll(newCaller, 'new')]);
    const kinds = outcomes.map(({ kind }) => kind);
    expect(countOf(kinds)).toStrictEqual({ ok: 200 });
    expect(marksOf(plane, 'S')).toHaveLength(200);
    expect(new Set(marksOf(plane, 'S').map(({ label }) => label)).size).toBe(200);
    // The new definition never ran for a call of the old one.
    const versions = outcomes.map(({ structured }) => (structured as { version: string }).version);
    expect(countOf(versions.slice(100))).toStrictEqual({ '1.1.0': 100 });
    expect(countOf(versions)['1.0.0']).toBeGreaterThan(0);

    // When the old workers have stopped, the new worker also answers callers that still use the old definition.
    expect((await old.process.stop()).code).toBe(0);
    const last = await callFor(plane, session, 'notes.add', runOnce(plane, 'last'), { client: oldCaller });
    expect(last).toMatchObject({ kind: 'ok', structured: { version: '1.1.0' } });
  });
});

function countOf(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
