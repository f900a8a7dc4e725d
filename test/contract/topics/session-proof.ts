import { expect, it } from 'vitest';
import { sha256 } from '../../../src/base/sha256.ts';
import { newRunId, newSessionId, newToken } from '../../../src/domain/identity/new-id.ts';
import { openSession, type TestSession } from '../fixtures.ts';
import { laneState, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const proofOf = ({ id, tokenDigest }: TestSession) => ({ session: id, tokenDigest });

export function describeSessionProof(scene: Scene): void {
  it('the token of a session that lives proves it, in whichever run', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    expect(await store.proveSession(proofOf(session))).toBeUndefined();
    await store.openRun({ session: session.id, run: newRunId() });
    await store.endRun({ session: session.id, run: session.run });
    expect(await other.proveSession(proofOf(session))).toBeUndefined();
  });

  it('another token, an empty one and what the store itself keeps prove nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const neighbour = await openSession(store, { ...session.identity });
    for (const tokenDigest of [sha256(newToken()), '', neighbour.tokenDigest, sha256(session.tokenDigest)]) {
      expect(await store.proveSession({ session: session.id, tokenDigest })).toBe('unknown');
    }
  });

  it('a session that never was, and an id that is none, are unknown', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const absent = newSessionId(session.identity.tenant, session.identity.subject, store.lanes);
    for (const id of [absent, 'nobody' as typeof absent, `9999${absent.slice(1)}` as typeof absent]) {
      expect(await store.proveSession({ session: id, tokenDigest: session.tokenDigest })).toBe('unknown');
    }
  });

  it('a revoked session proves nothing, and to a wrong token it is unknown like any other', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await store.revokeSession({ session: session.id });
    expect(await store.proveSession(proofOf(session))).toBe('revoked');
    expect(await store.proveSession({ session: session.id, tokenDigest: sha256(newToken()) })).toBe('unknown');
  });

  it.each([{ lifetimeMs: 5 }, { idleMs: 5 }])('a session past its time proves nothing: %j', async (times) => {
    const store = await scene.open();
    const session = await openSession(store, times);
    await storeTimeAfter(store, (await store.now()) + 5);
    // A store may have deleted an expired session: then it is `unknown`.
    expect(['expired', 'unknown']).toContain(await store.proveSession(proofOf(session)));
  });

  it('proving is no sign of life and moves no epoch', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [before, lane] = [await store.readSession(session.id), await laneState(store, session.lane)];
    await storeTimeAfter(store, before!.lastSeenAt);
    await store.proveSession(proofOf(session));
    await store.proveSession({ session: session.id, tokenDigest: 'wrong' });
    expect(await store.readSession(session.id)).toEqual(before);
    expect((await laneState(store, session.lane)).epoch).toBe(lane.epoch);
  });
}
