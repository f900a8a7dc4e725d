import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerId } from '../../src/domain/identity/ids.ts';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { accept } from '../../src/stages/accept/accept.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { acceptOne, acceptRequest, cancelRequest, claimOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

describe('a Redis at its memory limit', () => {
  let server: RedisServer;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    store = await openRedisStore({ url: server.url, name: `full-${randomId()}`, lanes: 4 });
  });
  afterEach(async () => {
    await server.cli('CONFIG', 'SET', 'maxmemory', '0');
    await store.close();
  });
  afterAll(() => server.stop());

  const fill = () => server.cli('CONFIG', 'SET', 'maxmemory', '1');

  it('still takes the kill switch, and every lane knows it', async () => {
    await fill();
    const policy = { ...CLOSED_POLICY, paused: { all: true } };
    expect(await store.writePolicy({ expectedVersion: 0, policy })).toEqual({ kind: 'written', version: 1 });
    expect(await store.readPolicy()).toEqual({ version: 1, policy });
    for (let lane = 0; lane < 4; lane += 1) {
      expect((await store.recheckSessions({ lane, sessions: [] })).lane.policyVersion).toBe(1);
    }
  });

  it('still keeps the registry of its workers', async () => {
    await fill();
    const worker = {
      workerId: randomId() as WorkerId,
      pool: 'default',
      host: 'here',
      pid: 1,
      release: '0',
      startedAt: 0,
      state: 'serving',
      concurrency: 1,
      running: 0,
      crashes: 0,
      modules: [],
      toolDigests: [],
      broken: [],
    } as const;
    await store.registerWorker({ worker, ttlMs: 60_000 });
    expect(await store.listWorkers()).toEqual([worker]);
    await store.deregisterWorker(worker.workerId);
    expect(await store.listWorkers()).toEqual([]);
  });

  it('does not say that a call it knows was refused', async () => {
    const session = await openSession(store);
    const known = acceptRequest(session);
    await store.acceptCall(known);
    await fill();
    const [again, fresh] = await Promise.all([store.acceptCall(known), store.acceptCall(acceptRequest(session))]);
    expect(again).toMatchObject({ kind: 'known-but-full', callId: known.callId });
    expect(fresh).toMatchObject({ kind: 'overloaded' });
    await expect(accept(known, store)).rejects.toThrow(/cannot write: OOM/);
  });

  it('still revokes sessions, settles and cancels, and refuses new calls as overloaded', async () => {
    const session = await openSession(store);
    await acceptOne(store, session);
    const delivery = await claimOne(store, { lane: session.lane });
    const waiting = await acceptOne(store, session);
    await fill();
    expect(await store.acceptCall(acceptRequest(session))).toMatchObject({ kind: 'overloaded' });
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    expect(await store.cancelCall(cancelRequest(waiting))).toBe('cancelled');
    expect(await store.revokeSession({ session: session.id })).toBe('revoked');
    expect(await store.proveSession({ session: session.id, tokenDigest: session.tokenDigest })).toBe('revoked');
  });
});
