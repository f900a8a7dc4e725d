import { expect, it } from 'vitest';
import type { WorkerBeat, WorkerEntry } from '../../../src/domain/ports/fleet-registry.ts';
import { newWorkerId } from '../../../src/domain/identity/new-id.ts';
import { storeTimeAfter, storeTimePasses } from '../observe.ts';
import { eventually } from '../../support/process.ts';
import type { Scene } from '../scene.ts';

const LONG_MS = 600_000;

function workerEntry(overrides: Partial<WorkerEntry> = {}): WorkerEntry {
  return {
    workerId: newWorkerId(),
    pool: 'main',
    host: 'höst.example',
    pid: 4711,
    release: '0.1.0',
    startedAt: 1_700_000_000_000,
    state: 'serving',
    concurrency: 16,
    running: 3,
    crashes: 0,
    modules: [{ id: 'files', digest: 'a'.repeat(64) }],
    toolDigests: ['b'.repeat(64)],
    broken: [{ id: 'web', file: 'web.ts', reason: 'SyntaxError: "}"' }],
    ...overrides,
  };
}

function beatOf({ modules: _m, toolDigests: _t, broken: _b, ...beat }: WorkerEntry): WorkerBeat {
  return beat;
}

const byId = (a: WorkerEntry, b: WorkerEntry) => a.workerId.localeCompare(b.workerId);

export function describeFleet(scene: Scene): void {
  it('registered workers are listed whole, on every connection', async () => {
    const [store, other] = await scene.openPair();
    expect(await store.listWorkers()).toEqual([]);
    const workers = [workerEntry(), workerEntry({ pool: 'gpu', state: 'starting' })];
    for (const worker of workers) await store.registerWorker({ worker, ttlMs: LONG_MS });
    expect((await other.listWorkers()).sort(byId)).toEqual(workers.sort(byId));
  });

  it('a repeated registration replaces the entry', async () => {
    const store = await scene.open();
    const worker = workerEntry();
    await store.registerWorker({ worker, ttlMs: LONG_MS });
    const draining = { ...worker, state: 'draining', running: 1 } as const;
    await store.registerWorker({ worker: draining, ttlMs: LONG_MS });
    expect(await store.listWorkers()).toEqual([draining]);
  });

  it('deregister takes a worker off the list and leaves the others', async () => {
    const store = await scene.open();
    const [leaving, staying] = [workerEntry(), workerEntry()];
    await store.registerWorker({ worker: leaving, ttlMs: LONG_MS });
    await store.registerWorker({ worker: staying, ttlMs: LONG_MS });
    await store.deregisterWorker(leaving.workerId);
    await store.deregisterWorker(leaving.workerId);
    expect(await store.listWorkers()).toEqual([staying]);
  });

  it('a worker without a heartbeat leaves the list', async () => {
    const store = await scene.open();
    const [silent, alive] = [workerEntry(), workerEntry()];
    await store.registerWorker({ worker: silent, ttlMs: 50 });
    await store.registerWorker({ worker: alive, ttlMs: LONG_MS });
    await storeTimePasses(store, 50);
    await eventually(async () => (await store.listWorkers()).length === 1, { what: 'the silent worker to leave' });
    expect(await store.listWorkers()).toEqual([alive]);
  });

  it('a heartbeat prolongs the registration and says how the worker stands', async () => {
    const store = await scene.open();
    const worker = workerEntry();
    const standing = { running: 9, crashes: 2, state: 'draining' } as const;
    const beat = { ...beatOf(worker), ...standing };
    let firstEnds = 0;
    // The heartbeat must come before the registration ends. On a busy machine it may not: then the registration has to be longer.
    for (let ttlMs = 100; firstEnds === 0; ttlMs *= 4) {
      const registeredAfter = await store.now();
      await store.registerWorker({ worker, ttlMs });
      const answer = await store.beatWorker({ worker: beat, ttlMs: LONG_MS });
      const now = await store.now();
      if (now - registeredAfter >= ttlMs) continue;
      expect(answer).toBe('beaten');
      firstEnds = now + ttlMs;
    }
    await storeTimeAfter(store, firstEnds);
    expect(await store.listWorkers()).toEqual([{ ...worker, ...standing }]);
  });

  it('a heartbeat of a worker that is not registered, or no longer, asks for its registration', async () => {
    const store = await scene.open();
    const [never, silent, left] = [workerEntry(), workerEntry(), workerEntry()];
    await store.registerWorker({ worker: left, ttlMs: LONG_MS });
    await store.deregisterWorker(left.workerId);
    for (const worker of [never, left]) {
      expect(await store.beatWorker({ worker: beatOf(worker), ttlMs: LONG_MS })).toBe('unknown');
    }
    await store.registerWorker({ worker: silent, ttlMs: 50 });
    await storeTimePasses(store, 50);
    await eventually(async () => (await store.listWorkers()).length === 0, { what: 'the silent worker to leave' });
    // Some stores keep an expired worker for a while. In both cases the worker is listed whole again, or the store asks for a new registration.
    if ((await store.beatWorker({ worker: beatOf(silent), ttlMs: LONG_MS })) === 'unknown') {
      await store.registerWorker({ worker: silent, ttlMs: LONG_MS });
    }
    expect(await store.listWorkers()).toEqual([silent]);
  });

  it('a registration says anew what a worker serves', async () => {
    const store = await scene.open();
    const worker = workerEntry();
    await store.registerWorker({ worker, ttlMs: LONG_MS });
    const changed = { ...worker, toolDigests: ['c'.repeat(64), 'd'.repeat(64)], broken: [] };
    await store.registerWorker({ worker: changed, ttlMs: LONG_MS });
    expect(await store.beatWorker({ worker: beatOf(worker), ttlMs: LONG_MS })).toBe('beaten');
    expect(await store.listWorkers()).toEqual([changed]);
  });
}
