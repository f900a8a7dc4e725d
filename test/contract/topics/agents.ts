import { expect, it } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { askedCallId, callIdFor, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptOne,
  acceptRequest,
  cancelRequest,
  HOUR_MS,
  holdOne,
  newWaiter,
  openSession,
  settleRequest,
  startRequest,
  type CallOverrides,
  type TestSession,
} from '../fixtures.ts';
import { recordOf } from '../observe.ts';
import { CHANNEL, ORIGIN, PLATFORM } from '../outbound-fixtures.ts';
import type { Scene } from '../scene.ts';

const sibling = (store: Store, { identity }: TestSession, overrides: Parameters<typeof openSession>[1] = {}) =>
  openSession(store, { ...identity, agent: 'other', ...overrides });

/** A request with a key as callers send it: the store decides which agent the key belongs to. */
const withKey = (session: TestSession, key: string, overrides: CallOverrides = {}) =>
  acceptRequest(session, { key, callId: askedCallId(session.id, key)!, ...overrides });

const cancelAs = (store: Store, { id, tokenDigest }: TestSession, callId: CallId) =>
  store.cancelCall(cancelRequest(callId, { session: { id, tokenDigest } }));

const redirectAs = (store: Store, { id, tokenDigest }: TestSession, callId: CallId) =>
  store.redirectCall({
    callId,
    session: { id, tokenDigest },
    platform: PLATFORM,
    channel: CHANNEL,
    origin: ORIGIN,
    afterMs: 0,
    deliverWithinMs: HOUR_MS,
  });

/** Agents of one subject: one agent cannot see the calls of another. */
export function describeAgents(scene: Scene): void {
  it('accept gives two agents of one subject different calls for the same key and body', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await sibling(store, session);
    const key = 'invoice-17';
    const running = await store.acceptCall(withKey(session, key, { waiter: newWaiter() }));
    expect(running).toEqual({ kind: 'accepted', callId: callIdFor(session.id, key) });
    expect(await store.acceptCall(withKey(other, key, { waiter: newWaiter() }))).toEqual({
      kind: 'accepted',
      callId: callIdFor(other.id, key),
    });
    expect(callIdFor(other.id, key)).not.toBe(callIdFor(session.id, key));
    expect(await recordOf(store, callIdFor(session.id, key)!)).toMatchObject({ waiters: 1 });
    // Each agent finds its own call again.
    for (const each of [session, other]) {
      const again = await store.acceptCall(withKey(each, key));
      expect(again).toMatchObject({ kind: 'attached', callId: callIdFor(each.id, key) });
    }
  });

  it('accept gives an agent neither a replay nor a conflict of a key that another agent has used', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await sibling(store, session);
    const delivery = await holdOne(store, session, withKey(session, 'k'));
    await store.settleCall(settleRequest(delivery));
    const known = await store.acceptCall(withKey(other, 'k', { arguments: '{"n":2}' }));
    const fresh = await store.acceptCall(withKey(other, 'never used', { arguments: '{"n":2}' }));
    expect([known, fresh].map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    expect(known).toEqual({ kind: 'accepted', callId: callIdFor(other.id, 'k') });
  });

  it('accept takes the id of a call of another agent for a key like any other', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await sibling(store, session);
    const callId = await acceptOne(store, session);
    const before = await recordOf(store, callId);
    const rest = callId.split('.').at(-1)!;
    const guess = await store.acceptCall(withKey(other, rest, { waiter: newWaiter() }));
    const unknown = await store.acceptCall(withKey(other, randomId(), { waiter: newWaiter() }));
    expect([guess, unknown].map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    expect((guess as { callId: string }).callId).not.toBe(callId);
    expect(await recordOf(store, callId)).toEqual(before);
  });

  it('accept keeps the keys of an agent apart from those it uses when it acts for another one', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const alone = await sibling(store, session);
    const acting = await sibling(store, session, { delegators: [session.identity.agent], delegatedBy: session.id });
    const ids = [session, alone, acting].map(({ id }) => callIdFor(id, 'k'));
    expect(new Set(ids).size).toBe(3);
    for (const each of [session, alone, acting]) {
      expect(await store.acceptCall(withKey(each, 'k'))).toEqual({ kind: 'accepted', callId: callIdFor(each.id, 'k') });
    }
  });

  it('cancel and redirect by another agent of the subject find no call, in any state', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await sibling(store, session);
    const settled = await holdOne(store, session);
    await store.settleCall(settleRequest(settled));
    const running = await holdOne(store, session);
    await store.startCall(startRequest(running));
    const queued = await acceptOne(store, session);
    for (const callId of [settled.callId, running.callId, queued, callIdFor(other.id, 'absent')!]) {
      expect(await cancelAs(store, other, callId)).toBe('unknown');
      expect(await redirectAs(store, other, callId)).toBe('unknown');
    }
    expect(await recordOf(store, running.callId)).toMatchObject({ cancelRequested: false });
    expect(await cancelAs(store, session, settled.callId)).toBe('settled');
    expect(await cancelAs(store, session, running.callId)).toBe('cancelling');
    expect(await redirectAs(store, session, queued)).toBe('redirected');
    expect(await cancelAs(store, session, queued)).toBe('cancelled');
  });

  it('a delegator reaches what its delegates called, and they do not reach what it called', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const acting = await sibling(store, session, { delegators: [session.identity.agent], delegatedBy: session.id });
    const alone = await sibling(store, session);
    const [own, delegated] = [await acceptOne(store, session), await acceptOne(store, acting)];
    expect(await cancelAs(store, acting, own)).toBe('unknown');
    expect(await cancelAs(store, alone, delegated)).toBe('unknown');
    expect(await redirectAs(store, session, delegated)).toBe('redirected');
    expect(await cancelAs(store, session, delegated)).toBe('cancelled');
  });

  it('a session keeps who opened it', async () => {
    const store = await scene.open();
    const actor = { by: 'operator ada', via: 'gateway', bearer: 'abcdefghijklmnop' } as const;
    const opened = await openSession(store, { actor });
    expect((await store.readSession(opened.id))?.openedBy).toEqual(actor);
    expect((await store.listSessions(10)).map(({ openedBy }) => openedBy)).toEqual([actor]);
    const unnamed = await openSession(store);
    expect((await store.readSession(unnamed.id))!).not.toHaveProperty('openedBy');
  });
}
