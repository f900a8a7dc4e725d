import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallAnswer, CallEvent, Catalog, SessionHandle } from '../../src/exports/client.ts';
import type { SessionId } from '../../src/domain/identity/ids.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { makeModules, type ModuleSource } from '../fixtures/client-plane/modules.ts';
import { startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.ts';
import { eventually, spawnNode } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, endingsOf, holdRun, marksOf, runOnce, untilMarks } from './support/watch-plane.ts';

const CALLER_SCRIPT = fileURLToPath(new URL('../fixtures/client-plane/caller.mjs', import.meta.url));

interface Order {
  readonly method: 'call' | 'result' | 'wait' | 'cancel';
  readonly args: readonly unknown[];
}

/** Runs these orders in another process, expects that it exits with 0, and returns the answers that it printed. */
async function askElsewhere(plane: StagedPlane, session: SessionHandle, orders: readonly Order[]): Promise<unknown[]> {
  const caller = await spawnNode(CALLER_SCRIPT, [JSON.stringify({ store: plane.storeOptions, session, orders })]);
  const { code } = await caller.exited;
  expect({ code, said: caller.stderr }).toMatchObject({ code: 0 });
  return caller.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

describe.each(BACKENDS)('the client library on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
    await plane.startWorker();
  });
  afterAll(() => plane.stop());

  describe('events of a call', () => {
    it('come in their order: queued, started, progress, settled', async () => {
      const events: CallEvent[] = [];
      const answer = await plane.client.call(
        session,
        'basic.progress',
        {},
        { waitMs: 60_000, onEvent: (event) => events.push(event) },
      );
      const { callId } = answer as Extract<CallAnswer, { kind: 'settled' }>;
      expect(events.slice(0, 2)).toStrictEqual([{ kind: 'queued', callId }, { kind: 'started' }]);
      expect(events.at(-1)).toStrictEqual({ kind: 'settled', callId });
      const progress = events.slice(2, -1);
      expect(progress.length).toBeGreaterThan(0);
      const done = progress.map((event) => (event.kind === 'progress' ? event.done! : Number.NaN));
      expect(done).toStrictEqual(done.toSorted((a, b) => a - b));
      expect(progress).toMatchObject(progress.map(() => ({ kind: 'progress', total: 3 })));
    });

    it('end with pending when the wait is over; the call goes on and is asked for by its id', async () => {
      const run = holdRun(plane, 'pending');
      const events: CallEvent[] = [];
      const answer = await plane.client.call(session, 'scenario.write', run.args, {
        waitMs: 50,
        onEvent: (event) => events.push(event),
      });
      const { callId } = answer as Extract<CallAnswer, { kind: 'pending' }>;
      expect(answer).toStrictEqual({ kind: 'pending', callId });
      expect(events.at(-1)).toStrictEqual({ kind: 'pending', callId });
      expect(await plane.client.result(session, callId)).toStrictEqual({ kind: 'pending', callId });
      await untilMarks(plane, 'S', 'pending');
      run.release();
      expect(await plane.client.wait(session, callId)).toMatchObject({
        kind: 'settled',
        callId,
        outcome: { kind: 'ok' },
      });
    });

    it('reach every waiter that asked; a listener that throws costs no waiter an answer', async () => {
      const run = holdRun(plane, 'listeners');
      const heard: string[] = [];
      const calling = plane.client.call(session, 'scenario.write', run.args, {
        key: 'listeners',
        waitMs: 60_000,
        onEvent: () => {
          throw new Error('a mistake of the listener');
        },
      });
      // The result is checked below; until then a rejection must not count as unhandled.
      calling.catch(() => undefined);
      const neighbours = Array.from({ length: 10 }, () =>
        plane.client.call(
          session,
          'basic.echo',
          { text: 'x' },
          { waitMs: 60_000, onEvent: ({ kind }) => heard.push(kind) },
        ),
      );
      for (const answer of await Promise.all(neighbours)) expect(answer.kind).toBe('settled');
      run.release();
      expect(await calling).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
      expect(heard.filter((kind) => kind === 'settled')).toHaveLength(10);
    });
  });

  describe('from another process', () => {
    it('fetches, awaits and cancels a call by its id, and ends by itself', async () => {
      const [held, awaited] = [holdRun(plane, 'elsewhere-cancel'), holdRun(plane, 'elsewhere-wait')];
      const cancelling = callFor(plane, session, 'scenario.write', held.args, { key: held.label });
      const waiting = callFor(plane, session, 'scenario.write', awaited.args, { key: awaited.label });
      await untilMarks(plane, 'S', held.label);
      await untilMarks(plane, 'S', awaited.label);
      const [cancelId, waitId] = [callIdFor(session.id, held.label)!, callIdFor(session.id, awaited.label)!];
      const asked = askElsewhere(plane, session, [
        { method: 'result', args: [waitId] },
        { method: 'cancel', args: [cancelId] },
        { method: 'wait', args: [cancelId] },
        { method: 'wait', args: [waitId] },
        { method: 'call', args: ['scenario.write', awaited.args, { key: awaited.label }] },
      ]);
      expect(await cancelling).toMatchObject({ kind: 'cancelled' });
      awaited.release();
      expect(await asked).toMatchObject([
        { kind: 'pending', callId: waitId },
        'cancelling',
        { kind: 'settled', outcome: { kind: 'cancelled' } },
        { kind: 'settled', callId: waitId, outcome: { kind: 'ok' } },
        { kind: 'settled', callId: waitId, outcome: { kind: 'ok' } },
      ]);
      expect((await waiting).kind).toBe('ok');
      expect(marksOf(plane, 'S', awaited.label)).toHaveLength(1);
    });

    it('learns nothing of a call without the token of its subject', async () => {
      await callFor(plane, session, 'basic.echo', { text: 'secret' }, { key: 'private' });
      const bob = await plane.openSession('bob');
      const callId = callIdFor(session.id, 'private')!;
      for (const stranger of [{ ...session, token: '' }, { ...session, token: bob.token }, bob]) {
        for (const method of ['result', 'wait', 'cancel'] as const) {
          await expect(plane.client[method](stranger, callId)).rejects.toMatchObject({ name: 'PlaneError' });
        }
      }
    });
  });

  describe('sessions', () => {
    const open = (given: { lifetimeMs?: number; idleMs?: number }) =>
      plane.client.openSession({ subject: 'carol', agent: 'main', ...given });
    const echo = (handle: SessionHandle) => plane.client.call(handle, 'basic.echo', { text: 'x' }, { waitMs: 60_000 });
    const refusedAs = (code: string) => ({ kind: 'refused', outcome: { kind: 'unauthenticated', error: { code } } });

    it('end when they are idle, unless they are touched, and at the end of their life in any case', async () => {
      const idleMs = 3000;
      const idle = await open({ idleMs });
      const touched = await open({ idleMs });
      const short = await open({ idleMs, lifetimeMs: idleMs });
      const openedAt = await plane.store.now();
      expect(await plane.client.touchSession(short.id)).toBe('touched');
      await eventually(async () => {
        expect(await plane.client.touchSession(touched.id)).toBe('touched');
        await plane.client.touchSession(short.id);
        return (await plane.store.now()) > openedAt + idleMs;
      });
      expect(await echo(touched)).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
      for (const ended of [idle, short]) {
        expect(await echo(ended)).toMatchObject(refusedAs('SESSION_EXPIRED'));
        expect(await plane.client.touchSession(ended.id)).toBe('ended');
      }
    });

    it('that are revoked refuse new calls and deny those that have not started', async () => {
      const handle = await open({});
      const runs = Array.from({ length: 64 }, (_, index) => holdRun(plane, `full-${index}`));
      const busy = runs.map((run) => callFor(plane, session, 'scenario.read', run.args));
      for (const { label } of runs) await untilMarks(plane, 'S', label);
      const queued = callFor(plane, handle, 'scenario.write', runOnce(plane, 'revoked'));
      await eventually(async () => (await plane.store.listCalls({ limit: 200 })).length === runs.length + 1);
      expect(await plane.client.revokeSession(handle.id)).toBe('revoked');
      expect(await echo(handle)).toMatchObject(refusedAs('SESSION_REVOKED'));
      for (const run of runs) run.release();
      expect(await queued).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'SESSION_ENDED' } });
      await Promise.all(busy);
      expect(marksOf(plane, 'S', 'revoked')).toStrictEqual([]);
      expect(await plane.client.touchSession(handle.id)).toBe('ended');
    });

    it('have runs of their own; a session that has ended opens none', async () => {
      const handle = await open({});
      const second = await plane.client.openRun(handle);
      expect(second).toStrictEqual({ ...handle, run: second.run });
      expect(second.run).not.toBe(handle.run);
      for (const each of [handle, second]) expect(await echo(each)).toMatchObject({ kind: 'settled' });
      await plane.client.endRun(handle.id, second.run);
      expect(await echo(second)).toMatchObject(refusedAs('RUN_UNKNOWN'));
      expect(await echo(handle)).toMatchObject({ kind: 'settled' });
      await plane.client.endRun(handle.id, second.run);
      await plane.client.revokeSession(handle.id);
      await expect(plane.client.openRun(handle)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    });

    it.each(['', 'garbage', '9999.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'])(
      'with the id %j are ended and unknown',
      async (id) => {
        expect(await plane.client.touchSession(id as SessionId)).toBe('ended');
        expect(await plane.client.revokeSession(id as SessionId)).toBe('unknown');
        await expect(plane.client.endRun(id as SessionId, session.run)).resolves.toBeUndefined();
        await expect(plane.client.openRun({ ...session, id: id as SessionId })).rejects.toMatchObject({
          code: 'SESSION_INVALID',
        });
      },
    );
  });

  it('rejects what is under way when it is closed, and refuses what comes after', async () => {
    const client = await plane.connect();
    const run = holdRun(plane, 'closed');
    const calling = client.call(session, 'scenario.write', run.args, { key: 'closed', waitMs: 60_000 });
    await untilMarks(plane, 'S', 'closed');
    const ended = calling.catch((error: unknown) => error);
    await client.close();
    expect(await ended).toMatchObject({ code: 'CLIENT_CLOSED' });
    await expect(client.call(session, 'basic.echo', { text: 'x' })).rejects.toMatchObject({ name: 'PlaneError' });
    // The caller has ended, but its call goes on.
    run.release();
    expect(await plane.client.wait(session, callIdFor(session.id, 'closed')!)).toMatchObject({
      outcome: { kind: 'ok' },
    });
  });
});

describe.each(BACKENDS)('the catalog seen by a client on %s', (backend) => {
  let plane: StagedPlane;
  let source: ModuleSource;
  beforeEach(async () => {
    plane = await stagePlane(backend);
    source = makeModules();
  });
  afterEach(async () => {
    await plane.stop();
    source.remove();
  });

  const toolsOf = ({ modules }: Catalog): string[] => modules.flatMap(({ tools }) => tools.map(({ id }) => id));

  it('is sent to a watcher once per publication, until it stops watching', async () => {
    source.write('one', { version: '1.0.0', description: 'Greets.' });
    await plane.startWorker({ modules: source.folder });
    const seen: Catalog[] = [];
    const stop = plane.client.watchCatalog((catalog) => seen.push(catalog));
    await eventually(() => seen.length === 1, { what: 'the catalog as it is' });
    source.write('two', { version: '1.0.0', description: 'Greets too.' });
    await plane.startWorker({ modules: source.folder });
    await eventually(() => seen.length === 2, { what: 'the new catalog' });
    expect(seen.map(toolsOf)).toStrictEqual([['one.greet'], ['one.greet', 'two.greet']]);
    expect(seen[1]!.sequence).toBeGreaterThan(seen[0]!.sequence);
    stop();
    source.write('three', { version: '1.0.0', description: 'Greets as well.' });
    await plane.startWorker({ modules: source.folder });
    expect(toolsOf(await plane.client.catalog())).toContain('three.greet');
    expect(seen).toHaveLength(2);
  });

  it('is read again by itself when a tool has changed: one answer, under one key', async () => {
    source.write('one', { version: '1.0.0', description: 'Greets.' });
    const first = await plane.startWorker({ modules: source.folder });
    const session = await plane.openSession();
    const client = await plane.connectOutdated();
    const greet = (key: string) => client.call(session, 'one.greet', { name: 'Ann' }, { key, waitMs: 60_000 });
    expect(await greet('before')).toMatchObject({ outcome: { structured: { by: '1.0.0' } } });
    expect((await first.process.stop()).code).toBe(0);
    source.write('one', { version: '2.0.0', description: 'Greets politely.' });
    await plane.startWorker({ modules: source.folder });
    const answer = await greet('after');
    expect(answer).toMatchObject({ kind: 'settled', outcome: { kind: 'ok', structured: { by: '2.0.0' } } });
    expect(await greet('after')).toStrictEqual(answer);
    expect((await endingsOf(plane)).map(({ outcome }) => outcome)).toStrictEqual(['ok', 'stale', 'ok']);
  });

  it('is enough for a process that cannot see the modules: it calls and is answered', async () => {
    source.write('one', { version: '1.0.0', description: 'Greets.' });
    await plane.startWorker({ modules: source.folder });
    source.remove();
    const session = await plane.openSession();
    const [answer] = await askElsewhere(plane, session, [{ method: 'call', args: ['one.greet', { name: 'Ann' }] }]);
    expect(answer).toMatchObject({ outcome: { kind: 'ok', structured: { text: 'Hello Ann' } } });
  });
});

describe('a client whose connection to Redis is cut', () => {
  let plane: StagedPlane;
  let proxy: ChaosProxy;
  beforeEach(async () => {
    plane = await stagePlane('redis');
    proxy = await startChaosProxy({ port: plane.redis!.port });
  });
  afterEach(async () => {
    await proxy.stop();
    await plane.stop();
  });

  it('again and again, with answers lost on the way: nothing is lost and nothing runs twice', async () => {
    await plane.startWorker();
    const client = await plane.connect({ store: 'redis', redis: { url: proxy.url } });
    const session = await plane.openSession();
    const keys = Array.from({ length: 60 }, (_, index) => `cut-${index}`);
    const run = holdRun(plane, 'cut-held');
    const held = callFor(plane, session, 'scenario.write', run.args, { key: run.label, client });
    await untilMarks(plane, 'S', run.label);
    const calling: Promise<unknown>[] = [];
    for (const [index, key] of keys.entries()) {
      if (index % 20 === 5) await proxy.setMode({ kind: 'drop-reply', request: 'accept_calls' });
      if (index % 20 === 12) await proxy.setMode({ kind: 'drop-request', request: 'accept_calls' });
      calling.push(callFor(plane, session, 'scenario.write', runOnce(plane, key), { key, client }));
      if (index % 20 === 18) await proxy.cut();
      if (index % 4 === 0) await calling.at(-1);
    }
    await proxy.setMode({ kind: 'refuse' });
    await proxy.cut();
    const during = callFor(plane, session, 'scenario.write', runOnce(plane, 'cut-off'), { key: 'cut-off', client });
    run.release();
    await eventually(async () => (await endingsOf(plane, callIdFor(session.id, run.label)!)).length === 1);
    await proxy.setMode({ kind: 'pass' });

    expect(await Promise.all([held, during, ...calling])).toMatchObject([...keys, '', ''].map(() => ({ kind: 'ok' })));
    expect(proxy.counts).toMatchObject({ droppedReplies: 3, droppedRequests: 3 });
    const all = [...keys, 'cut-off', run.label];
    expect(
      marksOf(plane, 'S')
        .map(({ label }) => label)
        .sort(),
    ).toStrictEqual(all.toSorted());
    expect(await endingsOf(plane)).toHaveLength(all.length);
  });
});
