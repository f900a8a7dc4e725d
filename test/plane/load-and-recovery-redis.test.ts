import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/operate/open-store.ts';
import type { Client, SessionHandle } from '../../src/exports/client.ts';
import { laneOfScopedId } from '../../src/domain/identity/ids.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { LEASE_MS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  holdRun,
  marksOf,
  releaseRuns,
  runOnce,
  untilLeased,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/load-plane', import.meta.url));

describe('load and recovery on redis alone', () => {
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane('redis');
    session = await plane.openSession();
  });
  afterEach(async () => {
    releaseRuns();
    await plane.redis!.cli('CONFIG', 'SET', 'min-replicas-to-write', '0');
    await plane.redis!.cli('CONFIG', 'SET', 'maxmemory', '0');
    await plane.setPolicy(OPEN_POLICY);
  });
  afterAll(() => plane.stop());

  it('an outcome that is known is settled although the store refused writes for a while', async () => {
    const worker = await plane.startWorker({ modules: MODULES, leaseMs: 3 * LEASE_MS });
    const run = holdRun(plane, 'refused');
    const calling = callFor(plane, session, 'load.write', run.args);
    await untilMarks(plane, 'S', 'refused');
    await plane.redis!.cli('CONFIG', 'SET', 'min-replicas-to-write', '1');
    run.release();
    await untilMarks(plane, 'E', 'refused');
    await untilStoreTime(plane, 1000);
    await plane.redis!.cli('CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect(await calling).toMatchObject({ kind: 'ok', executed: 'yes' });
    expect(marksOf(plane, 'S', 'refused')).toHaveLength(1);
    await worker.process.stop();
  });

  it('the kill switch reaches calls that a worker holds, at the memory limit', async () => {
    const worker = await plane.startWorker({ modules: MODULES });
    const run = holdRun(plane, 'running');
    const running = callFor(plane, session, 'load.single', run.args);
    await untilMarks(plane, 'S', 'running');
    const waiting = callFor(plane, session, 'load.single', runOnce(plane, 'waiting'));
    await untilLeased(plane, 2);
    await plane.redis!.cli('CONFIG', 'SET', 'maxmemory', '1');
    await plane.setPolicy({ ...OPEN_POLICY, paused: { all: true } });
    // Longer than a worker trusts the store's last answer about a call (`TRUST_SNAPSHOT_MS`).
    await untilStoreTime(plane, 300);
    run.release();
    expect((await running).kind).toBe('ok');
    expect(await waiting).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'PAUSED' } });
    await worker.process.stop();
  });

  describe('with sixteen lanes', () => {
    const LANES = 16;
    let client: Client;
    let wide: { store: 'redis'; redis: { url: string; name: string; lanes: number } };
    beforeAll(async () => {
      wide = { store: 'redis', redis: { url: plane.redis!.url, name: 'wide', lanes: LANES } };
      client = await plane.connect(wide);
      const store = await openStore(wide);
      await store.writePolicy({ expectedVersion: 0, policy: OPEN_POLICY });
      await store.close();
    });

    it('a worker with four slots serves every lane', async () => {
      const worker = await plane.startWorker({ ...wide, modules: MODULES, concurrency: 4 });
      const sessions = new Map<number, SessionHandle>();
      while (sessions.size < LANES) {
        const opened = await client.openSession({ subject: `user-${randomId()}`, agent: 'main' });
        sessions.set(laneOfScopedId(opened.id), opened);
      }
      // Calls go to one lane after the other, the last lane first. The other lanes are idle and must not keep the worker's slots.
      const kinds: string[] = [];
      for (const lane of [...sessions.keys()].toSorted((a, b) => b - a)) {
        const options = { waitMs: 60_000, deadlineMs: 60_000 };
        const answer = await client.call(sessions.get(lane)!, 'load.read', runOnce(plane, `lane-${lane}`), options);
        kinds.push(answer.kind === 'pending' ? 'pending' : answer.outcome.kind);
        if (kinds.at(-1) !== 'ok') break;
      }
      expect(kinds).toEqual(Array.from({ length: LANES }, () => 'ok'));
      await worker.process.stop();
    });

    it('a worker with 64 slots runs 64 calls of one subject together, and is quiet when it has nothing to do', async () => {
      const worker = await plane.startWorker({ ...wide, modules: MODULES, concurrency: 64, leaseMs: 15_000 });
      const run = holdRun(plane, 'together');
      const one = await client.openSession({ subject: 'one', agent: 'main' });
      const calling = Array.from({ length: 64 }, () => client.call(one, 'load.read', run.args, { waitMs: 60_000 }));
      await untilMarks(plane, 'S', 'together', 64);
      expect(marksOf(plane, 'E', 'together')).toEqual([]);
      run.release();
      for (const answer of await Promise.all(calling)) expect(answer).toMatchObject({ outcome: { kind: 'ok' } });

      await plane.redis!.cli('CONFIG', 'RESETSTAT');
      const from = await plane.store.now();
      await untilStoreTime(plane, 3000);
      const stats = await plane.redis!.cli('INFO', 'commandstats');
      const seconds = ((await plane.store.now()) - from) / 1000;
      const calls = [...stats.matchAll(/cmdstat_fcall(?:_ro)?:calls=(\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
      expect(calls).toBeGreaterThan(0);
      expect(calls / seconds).toBeLessThan(250);
      await worker.process.stop();
    });
  });
});
