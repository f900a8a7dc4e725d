import { expect, it } from 'vitest';
import type { WorkerId } from '../../../src/domain/identity/ids.ts';
import type { WorkerEntry } from '../../../src/domain/ports/fleet-registry.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newWorkerId, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  askAbout,
  decideRequest,
  holdOne,
  HOUR_MS,
  openSession,
  POOL,
  reapRequest,
  type TestSession,
} from '../fixtures.ts';
import { auditEvents, auditOf, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

const LEASE_MS = HOUR_MS;

/** Asks for an approval with a callback and denies it. The worker is not registered. */
async function resolved(store: Store, session: TestSession) {
  const asked = await askAbout(store, await holdOne(store, session), { callback: true });
  await store.decideApproval(decideRequest(asked, 'deny'));
  return asked;
}

const claimOf = (
  lane: number,
  workerId: WorkerId,
  more: { leaseMs?: number; limit?: number; claimId?: string } = {},
) => ({
  lane,
  workerId,
  claimId: randomId(),
  limit: 10,
  leaseMs: LEASE_MS,
  ...more,
});

function workerOf(workerId: WorkerId): WorkerEntry {
  return {
    workerId,
    pool: POOL,
    host: 'here',
    pid: 1,
    release: '0.1.0',
    startedAt: 1,
    state: 'serving',
    concurrency: 1,
    running: 0,
    crashes: 0,
    modules: [],
    toolDigests: [],
    broken: [],
  };
}

export function describeCallbacks(scene: Scene): void {
  it('a callback waits from the resolution on, is claimed once, and is done when its claimant says so', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session), { callback: true });
    const [one, two] = [newWorkerId(), newWorkerId()];
    expect(await store.claimCallbacks(claimOf(session.lane, one))).toEqual([]);
    await store.decideApproval(decideRequest(asked, 'deny'));
    expect(await store.readApproval(asked.question.id)).toMatchObject({ callback: 'waiting' });
    const [claimed, ...others] = await store.claimCallbacks(claimOf(session.lane, one));
    expect(others).toEqual([]);
    expect(claimed).toMatchObject({
      question: asked.question,
      state: 'denied',
      resolution: 'deny',
      callback: 'claimed',
    });
    expect(await store.claimCallbacks(claimOf(session.lane, two))).toEqual([]);
    expect(await store.claimCallbacks(claimOf(session.lane, one))).toEqual([]);
    const { id } = asked.question;
    await store.finishCallback({ id, workerId: two });
    expect((await store.readApproval(id))?.callback).toBe('claimed');
    await store.finishCallback({ id, workerId: one });
    await store.finishCallback({ id, workerId: one });
    expect((await store.readApproval(id))?.callback).toBe('done');
    expect(await auditEvents(store, asked.callId)).not.toContain('callback.unknown');
  });

  it('a claim repeated after a lost answer brings the same approvals, and no more', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const worker = newWorkerId();
    const first = await resolved(store, session);
    const claim = claimOf(session.lane, worker);
    const ids = async (request = claim) => (await store.claimCallbacks(request)).map(({ question }) => question.id);
    expect(await ids()).toEqual([first.question.id]);
    const second = await resolved(store, session);
    expect(await ids()).toEqual([first.question.id]);
    expect(await ids(claimOf(session.lane, worker))).toEqual([second.question.id]);
  });

  it('each callback goes to one of many concurrent claims', async () => {
    const stores = await scene.openMany(3);
    const store = stores[0]!;
    const session = await openSession(store);
    const asked = [];
    for (let index = 0; index < 12; index += 1) asked.push(await resolved(store, session));
    const claims = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        stores[index % 3]!.claimCallbacks(claimOf(session.lane, newWorkerId(), { limit: 2 })),
      ),
    );
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(2);
    const first = claims.flat().map(({ question }) => question.id);
    const rest = (await store.claimCallbacks(claimOf(session.lane, newWorkerId(), { limit: 100 }))).map(
      ({ question }) => question.id,
    );
    expect([...first, ...rest].sort()).toEqual(asked.map(({ question }) => question.id).sort());
  });

  it('a callback that was not requested is given to no worker', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    await store.decideApproval(decideRequest(asked, 'deny'));
    expect(await store.claimCallbacks(claimOf(session.lane, newWorkerId()))).toEqual([]);
    expect((await store.readApproval(asked.question.id))?.callback).toBe('none');
  });

  it('while the worker that asked lives, a callback is its own for a lease; then any worker gets it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.registerWorker({ worker: workerOf(delivery.workerId), ttlMs: HOUR_MS });
    const asked = await askAbout(store, delivery, { callback: true });
    await store.decideApproval(decideRequest(asked, 'deny'));
    const other = newWorkerId();
    expect(await store.claimCallbacks(claimOf(session.lane, other))).toEqual([]);
    await storeTimePasses(store, 30);
    expect(await store.claimCallbacks(claimOf(session.lane, other, { leaseMs: 20 }))).toHaveLength(1);
  });

  it('the worker that asked gets its callback at once, and another one as soon as that worker has gone', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const asker of ['lives', 'has gone'] as const) {
      const delivery = await holdOne(store, session);
      await store.registerWorker({ worker: workerOf(delivery.workerId), ttlMs: HOUR_MS });
      const asked = await askAbout(store, delivery, { callback: true });
      await store.decideApproval(decideRequest(asked, 'deny'));
      if (asker === 'has gone') await store.deregisterWorker(delivery.workerId);
      const claimant = asker === 'lives' ? delivery.workerId : newWorkerId();
      const claimed = await store.claimCallbacks(claimOf(session.lane, claimant));
      expect(claimed.map(({ question }) => question.id)).toEqual([asked.question.id]);
    }
  });

  it('a claim that is not finished within its lease is unknown, in the audit too, and is never given again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const worker = newWorkerId();
    // One lease that cannot run out while the test runs, and one that runs out after a moment.
    const held = await resolved(store, session);
    expect(await store.claimCallbacks(claimOf(session.lane, worker))).toHaveLength(1);
    const asked = await resolved(store, session);
    const claim = claimOf(session.lane, worker, { leaseMs: 1 });
    expect(await store.claimCallbacks(claim)).toHaveLength(1);
    await storeTimePasses(store, 5);
    await store.reapCalls(reapRequest(session.lane));
    await store.reapCalls(reapRequest(session.lane));
    expect((await store.readApproval(held.question.id))?.callback).toBe('claimed');
    expect((await store.readApproval(asked.question.id))?.callback).toBe('unknown');
    const lost = (await auditOf(store, asked.callId)).filter(({ event }) => event === 'callback.unknown');
    expect(lost).toEqual([expect.objectContaining({ approval: asked.question.id, session: session.id })]);
    expect(await store.claimCallbacks(claimOf(session.lane, newWorkerId()))).toEqual([]);
    expect(await store.claimCallbacks(claim)).toEqual([]);
    await store.finishCallback({ id: asked.question.id, workerId: worker });
    expect((await store.readApproval(asked.question.id))?.callback).toBe('unknown');
  });
}
