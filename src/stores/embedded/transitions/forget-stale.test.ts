import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptOne,
  acceptRequest,
  allow,
  askAbout,
  decideRequest,
  claimOne,
  encodedOutcome,
  holdOne,
  HOUR_MS,
  newGrant,
  newWaiter,
  openSession,
  reapRequest,
  settleRequest,
} from '../../../../test/contract/fixtures.ts';
import { drainReplies, recordOf, sameBytes } from '../../../../test/contract/observe.ts';
import { openDirectStore, type DirectStore } from '../../../../test/embedded/direct-store.ts';
import type { Store } from '../../../domain/ports/store.ts';
import { newCallerId } from '../../../domain/identity/new-id.ts';
import { newTokenText } from '../../../domain/identity/token-text.ts';

const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
let now: number;
let direct: DirectStore;
let store: Store;
beforeEach(() => {
  now = 1_000_000_000_000;
  direct = openDirectStore({ now: () => now });
  store = direct.store;
});
afterEach(() => direct.remove());

it('replies stay as long as their caller reads, and go a minute after its last read', async () => {
  const session = await openSession(store);
  const waiter = newWaiter({ callerId: newCallerId() });
  const delivery = await holdOne(store, session, { waiter });
  await store.settleCall(settleRequest(delivery));
  const look = () => store.takeReplies({ lane: 0, callerId: waiter.callerId, acknowledged: [], waitMs: 0 });
  now += 50_000;
  expect(await look()).toHaveLength(1);
  now += 50_000;
  await store.reapCalls(reapRequest(0));
  expect(await look()).toHaveLength(1);
  now += 60_000;
  await store.reapCalls(reapRequest(0));
  expect(await look()).toHaveLength(0);
  expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'settled' });
});

it('a session is kept while one that it delegated to is, so that it can be revoked', async () => {
  const idle = await openSession(store, { lifetimeMs: 30 * DAY_MS, idleMs: HOUR_MS });
  const delegation = { ...idle.identity, delegatedBy: idle.id, lifetimeMs: 30 * DAY_MS, idleMs: 3 * DAY_MS };
  const helper = await openSession(store, delegation);
  now += 2 * DAY_MS;
  await store.reapCalls(reapRequest(0));
  expect(await store.revokeSession({ session: idle.id })).toBe('revoked');
  expect(await store.readSession(helper.id)).toMatchObject({ revoked: true });
  now += 30 * DAY_MS;
  await store.reapCalls(reapRequest(0));
  await store.reapCalls(reapRequest(0));
  expect(await store.listSessions(10)).toEqual([]);
});

it('an ended session is distinguished from an unknown one for a day, and kept while a call of it lives', async () => {
  const [ended, busy] = [await openSession(store), await openSession(store, { lifetimeMs: 8 * DAY_MS })];
  const delivery = await holdOne(store, busy, { deadlineMs: 7 * DAY_MS });
  await askAbout(store, delivery, { timeoutMs: 7 * DAY_MS });
  now += DAY_MS;
  await store.reapCalls(reapRequest(0));
  expect(await store.readSession(ended.id)).toBeDefined();
  now += HOUR_MS;
  await store.reapCalls(reapRequest(0));
  expect(await store.readSession(ended.id)).toBeUndefined();
  expect(await store.readSession(busy.id)).toBeDefined();
});

it('a released key stays taken by its next call when retention has removed the first', async () => {
  const session = await openSession(store);
  const delivery = await holdOne(store, session, { key: 'k' });
  await store.settleCall(settleRequest(delivery, encodedOutcome('stale'), { releaseKey: true, retentionMs: 1_000 }));
  const second = await acceptOne(store, session, { key: 'k' });
  expect(second).toBe(`${delivery.callId}~2`);
  now += 2_000;
  await store.reapCalls(reapRequest(0));
  expect(await store.readCall(delivery.callId)).toBeUndefined();
  expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toMatchObject({
    kind: 'attached',
    callId: second,
  });
});

it('the idle expiry of a session stands still while one of its calls is parked', async () => {
  const session = await openSession(store, { lifetimeMs: DAY_MS, idleMs: 60_000 });
  const delivery = await holdOne(store, session);
  const asked = await askAbout(store, delivery);
  now += HOUR_MS;
  await allow(store, asked);
  const again = await claimOne(store);
  expect(again.sessionExpiresAt).toBe(now + 60_000);
  expect(await store.startCall({ ...again, effect: 'unsafe', maxAttempts: 1 })).toMatchObject({ kind: 'started' });
  now += 60_000;
  expect(await store.touchSession(session.id)).toBe('ended');
});

it('a call whose body was deleted by hand is not delivered, and the next reap says what happened', async () => {
  const session = await openSession(store);
  const waiter = newWaiter();
  const large = JSON.stringify({ text: 'x'.repeat(5_000) });
  const broken = await acceptOne(store, session, { waiter, arguments: large });
  const whole = await acceptOne(store, session);
  direct.database.run('DELETE FROM body WHERE seq = (SELECT min(seq) FROM call)');
  expect((await claimOne(store, { limit: 2 })).callId).toBe(whole);
  const request = reapRequest(0);
  expect(await store.reapCalls(request)).toEqual({ expired: [broken], overdue: [] });
  expect(await drainReplies(store, 0, waiter.callerId)).toEqual([
    { kind: 'settled', correlationId: waiter.correlationId, outcome: sameBytes(request.bodyLost) },
  ]);
});

it('approvals go with their calls and grants with their time, and nothing is counted any more then', async () => {
  const session = await openSession(store, { lifetimeMs: 30 * DAY_MS });
  const [allowed, denied, expired] = [
    await askAbout(store, await holdOne(store, session), { callback: true }),
    await askAbout(store, await holdOne(store, session)),
    await askAbout(store, await holdOne(store, session), { timeoutMs: HOUR_MS }),
  ];
  const grant = newGrant(allowed, { lifetimeMs: 3 * HOUR_MS });
  await store.decideApproval(decideRequest(allowed, 'allow-always', { grant, editedArguments: '{"a":1}' }));
  await allow(store, await askAbout(store, await claimOne(store)));
  await store.settleCall(settleRequest(await claimOne(store)));
  await store.decideApproval(decideRequest(denied, 'deny'));
  now += HOUR_MS;
  expect((await store.reapCalls(reapRequest(0))).expired).toEqual([expired.callId]);
  const left = (table: string) => direct.database.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`)?.rows;
  expect([left('approval'), left('call'), left('grant')]).toEqual([1, 1, 1]);
  now += HOUR_MS;
  await store.reapCalls(reapRequest(0));
  expect([left('approval'), left('call'), left('grant')]).toEqual([0, 0, 1]);
  now += HOUR_MS;
  await store.reapCalls(reapRequest(0));
  expect(left('grant')).toBe(0);
  expect([direct.lane.liveBytes, direct.lane.liveCalls, direct.lane.retainedBytes]).toEqual([0, 0, 0]);
});

describe('tokens', () => {
  async function create(lifetimeMs: number): Promise<{ id: string; secretDigest: string }> {
    const { id, secretDigest } = newTokenText();
    const token = { id, name: 'ci', scopes: ['operator'] as const };
    expect(await store.createToken({ token, secretDigest, lifetimeMs })).toMatchObject({ kind: 'created' });
    return { id, secretDigest };
  }
  const listed = async () => (await store.listTokens({ limit: 10 })).map(({ id }) => id);
  const rows = (table: string) => direct.database.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`)?.rows;

  it('are forgotten a week after they expired or were revoked, whichever was first', async () => {
    const [revoked, expired, lasting] = [await create(30 * DAY_MS), await create(DAY_MS), await create(30 * DAY_MS)];
    await store.revokeToken(revoked);
    now += WEEK_MS - 1;
    expect(await listed()).toHaveLength(3);
    // Too late to prolong anything.
    await store.revokeToken(expired);
    now += 1;
    expect((await listed()).sort()).toEqual([expired.id, lasting.id].sort());
    expect(await store.revokeToken(revoked)).toBe('unknown');
    now += DAY_MS;
    expect(await listed()).toEqual([lasting.id]);
    expect(rows('token')).toBe(3);
    await store.reapCalls(reapRequest(0));
    expect(rows('token')).toBe(1);
    expect(await store.proveToken(lasting)).toMatchObject({ id: lasting.id });
  });

  it('that have ended make room when there are as many as there may be; those that work do not', async () => {
    const ended = await create(DAY_MS);
    direct.database.run(
      `WITH RECURSIVE number (at) AS (SELECT 2 UNION ALL SELECT at + 1 FROM number WHERE at < 10000)
       INSERT INTO token SELECT 'made' || at, x'00', '{}', ?1, ?1 + ?2, NULL, ?1 + ?2 + ?3 FROM number`,
      now,
      30 * DAY_MS,
      WEEK_MS,
    );
    const { id, secretDigest } = newTokenText();
    const request = { token: { id, name: 'ci', scopes: ['admin'] as const }, secretDigest, lifetimeMs: DAY_MS };
    expect(await store.createToken(request)).toEqual({ kind: 'full' });
    now += DAY_MS;
    expect(await store.createToken(request)).toMatchObject({ kind: 'created' });
    expect(rows('token')).toBe(10_000);
    expect(await store.revokeToken(ended)).toBe('unknown');
    expect(await store.revokeToken({ id: 'made7' })).toBe('revoked');
    await create(DAY_MS);
    expect(await store.revokeToken({ id: 'made7' })).toBe('unknown');
  });

  it('digests of what was used once go when they expire', async () => {
    await store.useOnce({ digest: 'a', attempt: 'x', lifetimeMs: HOUR_MS });
    await store.useOnce({ digest: 'b', attempt: 'x', lifetimeMs: DAY_MS });
    now += HOUR_MS;
    await store.reapCalls(reapRequest(0));
    expect(rows('once')).toBe(1);
    expect(await store.useOnce({ digest: 'b', attempt: 'y', lifetimeMs: HOUR_MS })).toBe('used');
  });
});
