import { expect, it } from 'vitest';
import type { CallProof, OwnedCall } from '../../../src/domain/ports/call-requests.ts';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  callIds,
  claimMany,
  holdOne,
  openSession,
  ownedBy,
  ROOMY,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { expectNothingWritten, reclaimOne } from '../observe.ts';
import type { Scene } from '../scene.ts';

const UNKNOWN = { kind: 'unauthenticated', ending: 'unknown' };
const asParent = (delivery: OwnedCall): CallProof => ({ kind: 'parent', owned: ownedBy(delivery) });

export function describeNested(scene: Scene): void {
  it('accept takes a nested call on the word of the live parent, without a token', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parent = await holdOne(store, session);
    const held = await acceptOne(store, session, { proof: asParent(parent) });
    await store.startCall(startRequest(parent));
    const running = await acceptOne(store, session, { proof: asParent(parent) });
    expect(callIds(await claimMany(store, { lane: session.lane })).sort()).toEqual([held, running].sort());
  });

  it('accept refuses a nested call whose parent is settled, and writes nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parent = await holdOne(store, session);
    await store.settleCall(settleRequest(parent));
    const orphan = acceptRequest(session, { proof: asParent(parent) });
    expect(await store.acceptCall(orphan)).toEqual(UNKNOWN);
    await expectNothingWritten(store, orphan.callId, session.lane);
  });

  it('accept refuses a nested call of a worker that lost the parent', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    const current = await reclaimOne(store, lost);
    const late = acceptRequest(session, { proof: asParent(lost) });
    expect(await store.acceptCall(late)).toEqual(UNKNOWN);
    await expectNothingWritten(store, late.callId, session.lane);
    await acceptOne(store, session, { proof: asParent(current) });
  });

  it('accept refuses a nested call under another session, even of the same subject', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parent = await holdOne(store, session);
    const sibling = await openSession(store, session.identity);
    const stranger = await openSession(store, { lane: session.lane });
    for (const other of [sibling, stranger]) {
      const borrowed = acceptRequest(other, { proof: asParent(parent) });
      expect(await store.acceptCall(borrowed)).toEqual(UNKNOWN);
      await expectNothingWritten(store, borrowed.callId, session.lane);
    }
  });

  it('accept refuses a nested call once the session is revoked', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parent = await holdOne(store, session);
    await store.revokeSession({ session: session.id });
    const answer = await store.acceptCall(acceptRequest(session, { proof: asParent(parent) }));
    expect(answer).toEqual({ kind: 'unauthenticated', ending: 'revoked' });
  });

  it('a nested call passes the full window of its subject, so that parents cannot wait for their own children', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1 };
    const parent = await holdOne(store, session, { admission });
    await acceptMany(store, session, 2, { admission });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    const child = await acceptOne(store, session, { admission, proof: asParent(parent) });
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([child]);
  });

  it('a nested call does not count against the backlog, which it never enters', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1, subjectBacklog: 1 };
    const parent = await holdOne(store, session, { admission });
    await acceptOne(store, session, { admission });
    expect((await store.acceptCall(acceptRequest(session, { admission }))).kind).toBe('overloaded');
    await acceptOne(store, session, { admission, proof: asParent(parent) });
  });
}
