import { expect, it } from 'vitest';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newRunId, newSessionId } from '../../../src/domain/identity/new-id.ts';
import { acceptOne, acceptRequest, claimOne, openSession, startRequest, type TestSession } from '../fixtures.ts';
import { laneState, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const delegate = (store: Store, delegator: TestSession, overrides: Parameters<typeof openSession>[1] = {}) =>
  openSession(store, { ...delegator.identity, delegatedBy: delegator.id, ...overrides });

/** The ending of a session as a claim of one of its calls sees it; undefined while the session is live. */
async function endingOf(store: Store, { id, run, lane }: TestSession): Promise<string | undefined> {
  return (await store.recheckSessions({ lane, sessions: [{ session: id, run }] })).endings[0];
}

/** Sessions that another session delegated to. */
export function describeDelegates(scene: Scene): void {
  it('revoke ends a session with those that it delegated to, directly or through others, and no other', async () => {
    const store = await scene.open();
    const boss = await openSession(store);
    const children = [await delegate(store, boss), await delegate(store, boss)];
    const grandchild = await delegate(store, children[1]!);
    const last = await delegate(store, grandchild);
    const peer = await openSession(store, boss.identity);
    const peersOwn = await delegate(store, peer);

    expect(await store.revokeSession({ session: boss.id })).toBe('revoked');
    for (const session of [boss, ...children, grandchild, last]) {
      expect(await endingOf(store, session)).toBe('revoked');
      expect(await store.readSession(session.id)).toMatchObject({ revoked: true });
      expect(await store.acceptCall(acceptRequest(session))).toEqual({ kind: 'unauthenticated', ending: 'revoked' });
      expect(await store.touchSession(session.id)).toBe('ended');
      expect(await store.openRun({ session: session.id, run: newRunId() })).toBe('ended');
      expect(await store.proveSession({ session: session.id, tokenDigest: session.tokenDigest })).toBe('revoked');
    }
    for (const session of [peer, peersOwn]) expect(await endingOf(store, session)).toBeUndefined();
  });

  it('revoke of a delegate leaves its delegator and its siblings', async () => {
    const store = await scene.open();
    const boss = await openSession(store);
    const [ended, sibling] = [await delegate(store, boss), await delegate(store, boss)];
    const under = await delegate(store, ended);
    await store.revokeSession({ session: ended.id });
    expect(await Promise.all([ended, under].map((each) => endingOf(store, each)))).toEqual(['revoked', 'revoked']);
    expect(await Promise.all([boss, sibling].map((each) => endingOf(store, each)))).toEqual([undefined, undefined]);
    // The sibling ends with its delegator later, although another delegate was revoked before.
    await store.revokeSession({ session: boss.id });
    expect(await endingOf(store, sibling)).toBe('revoked');
  });

  it('revoke of a delegator is seen by the claim of a call that its delegate has queued, and by a start', async () => {
    const store = await scene.open();
    const boss = await openSession(store);
    const helper = await delegate(store, boss);
    const grandchild = await delegate(store, helper);
    await acceptOne(store, grandchild);
    const delivery = await claimOne(store, { lane: boss.lane });
    const before = await laneState(store, boss.lane);
    expect(before.epoch).toBe(delivery.epoch);

    await store.revokeSession({ session: boss.id });
    const after = await laneState(store, boss.lane);
    expect(after.epoch).not.toBe(delivery.epoch);
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'session-ended', ending: 'revoked' });
    // A second revocation changes nothing.
    await store.revokeSession({ session: boss.id });
    expect((await laneState(store, boss.lane)).epoch).toBe(after.epoch);
  });

  it('a session cannot be delegated by one that was revoked, expired or never was', async () => {
    const store = await scene.open();
    const [revoked, short] = [await openSession(store), await openSession(store, { lifetimeMs: 20 })];
    const helper = await delegate(store, revoked);
    await store.revokeSession({ session: revoked.id });
    await storeTimeAfter(store, short.expiresAt);
    const absent = { ...revoked, id: newSessionId(revoked.identity.tenant, revoked.identity.subject, store.lanes) };
    for (const delegator of [revoked, helper, short, absent]) {
      await expect(delegate(store, delegator)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    }
    const opened = [revoked, helper, short].map(({ id }) => id);
    expect((await store.listSessions(10)).filter(({ id }) => !opened.includes(id))).toEqual([]);
  });

  it('a session cannot be delegated by one of another subject', async () => {
    const store = await scene.open();
    const boss = await openSession(store);
    const foreign = { subject: `${boss.identity.subject}-2` };
    await expect(delegate(store, boss, foreign)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
  });

  it('a delegate expires with its delegator at the latest', async () => {
    const store = await scene.open();
    const boss = await openSession(store, { lifetimeMs: 60_000, idleMs: 5_000 });
    const [long, short] = [
      await delegate(store, boss, { lifetimeMs: 600_000 }),
      await delegate(store, boss, { lifetimeMs: 1_000 }),
    ];
    expect(long.expiresAt).toBe(boss.expiresAt);
    expect(short.expiresAt).toBeLessThan(boss.expiresAt);
    expect((await delegate(store, short, { lifetimeMs: 600_000 })).expiresAt).toBe(short.expiresAt);
  });

  it('a delegation that races with the revocation of its delegator is refused or ended, never left alive', async () => {
    const [one, other] = await scene.openPair();
    for (let round = 0; round < 20; round += 1) {
      const boss = await openSession(one);
      const opening = Array.from({ length: 4 }, () => delegate(other, boss).catch(() => undefined));
      await one.revokeSession({ session: boss.id });
      const opened = (await Promise.all(opening)).filter((session) => session !== undefined);
      const endings = await Promise.all(opened.map((session) => endingOf(one, session)));
      expect(endings).toEqual(opened.map(() => 'revoked'));
    }
  });

  it('opening a delegate again after a lost answer is the same session, also when its delegator has ended since', async () => {
    const store = await scene.open();
    const boss = await openSession(store);
    const helper = await delegate(store, boss);
    const { id, run, identity, tokenDigest, expiresAt } = helper;
    const again = { id, run, identity, tokenDigest, lifetimeMs: 1, idleMs: 1, delegatedBy: boss.id };
    expect(await store.openSession(again)).toEqual({ expiresAt });
    await store.revokeSession({ session: boss.id });
    expect(await store.openSession(again)).toEqual({ expiresAt });
    expect(await endingOf(store, helper)).toBe('revoked');
  });
}
