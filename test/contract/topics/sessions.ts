import { expect, it } from 'vitest';
import { newRunId, newSessionId, newWorkerId } from '../../../src/domain/identity/new-id.ts';
import { acceptOne, acceptRequest, claimOne, openSession, POOL, settleRequest } from '../fixtures.ts';
import { laneState, readWholeAudit, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeSessions(scene: Scene): void {
  it('openSession writes the identity and times of the store, and no credential', async () => {
    const store = await scene.open();
    const before = await store.now();
    const session = await openSession(store, { space: 'guild', lifetimeMs: 60_000, idleMs: 5_000 });
    const after = await store.now();
    const read = await store.readSession(session.id);

    expect(read).toEqual({
      id: session.id,
      identity: session.identity,
      openedAt: expect.any(Number),
      expiresAt: session.expiresAt,
      idleMs: 5_000,
      lastSeenAt: expect.any(Number),
      revoked: false,
      runs: [session.run],
    });
    expect(read!.openedAt).toBeGreaterThanOrEqual(before);
    expect(read!.openedAt).toBeLessThanOrEqual(after);
    expect(session.expiresAt).toBe(read!.openedAt + 60_000);
    expect(JSON.stringify(read)).not.toContain(session.tokenDigest);
  });

  it('an unattended session and an unattended run reach the worker with the call, and the audit says so', async () => {
    const store = await scene.open();
    const night = await openSession(store, { unattended: true, lane: 0 });
    expect((await store.readSession(night.id))!.identity).toEqual(night.identity);
    await acceptOne(store, night);
    const inSession = await claimOne(store);
    expect(JSON.parse(inSession.identity)).toMatchObject({ unattended: true });
    await store.settleCall(settleRequest(inSession));

    const day = await openSession(store, { lane: 0 });
    const run = newRunId({ unattended: true });
    // A call cannot name a run that was not opened, with the unattended mark or without.
    const forged = acceptRequest(day, { run: newRunId() });
    expect(await store.acceptCall(forged)).toMatchObject({ kind: 'unauthenticated', ending: 'run-unknown' });
    expect(await store.openRun({ session: day.id, run })).toBe('opened');
    await acceptOne(store, day, { run });
    const inRun = await claimOne(store);
    expect(inRun.run).toBe(run);
    expect(JSON.parse(inRun.identity)).not.toHaveProperty('unattended');

    const records = (await readWholeAudit(store, 0)).map(({ event, identity = '{}' }) => [
      event,
      (JSON.parse(identity) as { unattended?: true }).unattended,
    ]);
    expect(records).toEqual([
      ['session.opened', true],
      ['call.settled', true],
      ['session.opened', undefined],
    ]);
  });

  it('readSession knows nothing of a session that was never opened', async () => {
    const store = await scene.open();
    const absent = newSessionId('acme', 'nobody', store.lanes);
    expect(await store.readSession(absent)).toBeUndefined();
    expect(await store.touchSession(absent)).toBe('ended');
    expect(await store.revokeSession({ session: absent })).toBe('unknown');
    expect(await store.openRun({ session: absent, run: newRunId() })).toBe('ended');
  });

  it('listSessions names the open sessions of all lanes', async () => {
    const store = await scene.open();
    const opened = [await openSession(store), await openSession(store), await openSession(store)];
    const listed = (await store.listSessions(10)).map((session) => session.id);
    expect(listed.sort()).toEqual(opened.map((session) => session.id).sort());
    expect(await store.listSessions(2)).toHaveLength(2);
  });

  it('touch pushes the idle expiry out and leaves the absolute one', async () => {
    const store = await scene.open();
    const session = await openSession(store, { lifetimeMs: 600_000, idleMs: 60_000 });
    const opened = await store.readSession(session.id);
    await storeTimeAfter(store, opened!.lastSeenAt);
    expect(await store.touchSession(session.id)).toBe('touched');
    const touched = await store.readSession(session.id);
    expect(touched!.lastSeenAt).toBeGreaterThan(opened!.lastSeenAt);
    expect(touched!.expiresAt).toBe(opened!.expiresAt);
  });

  it('touch cannot bring an ended session back', async () => {
    const store = await scene.open();
    const idle = await openSession(store, { idleMs: 5 });
    const expired = await openSession(store, { lifetimeMs: 5 });
    const revoked = await openSession(store);
    await store.revokeSession({ session: revoked.id });
    await storeTimeAfter(store, (await store.now()) + 5);
    for (const session of [idle, expired, revoked]) {
      expect(await store.touchSession(session.id)).toBe('ended');
      expect(await store.openRun({ session: session.id, run: newRunId() })).toBe('ended');
      expect((await store.acceptCall(acceptRequest(session))).kind).toBe('unauthenticated');
    }
  });

  it('a call counts as a sign of life', async () => {
    const store = await scene.open();
    const session = await openSession(store, { idleMs: 2_000 });
    const { openedAt } = (await store.readSession(session.id))!;
    await storeTimeAfter(store, openedAt + 700);
    await acceptOne(store, session);
    expect((await store.readSession(session.id))!.lastSeenAt).toBeGreaterThan(openedAt);
  });

  it('runs are opened and ended one by one', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const run = newRunId();
    expect(await store.openRun({ session: session.id, run })).toBe('opened');
    expect([...(await store.readSession(session.id))!.runs].sort()).toEqual([session.run, run].sort());
    await store.endRun({ session: session.id, run: session.run });
    expect((await store.readSession(session.id))!.runs).toEqual([run]);
    await store.endRun({ session: session.id, run: session.run });
    expect((await store.readSession(session.id))!.runs).toEqual([run]);
  });

  it('revoke moves the epoch of the lane, so that a claim sees its snapshot is old', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session);
    expect(await store.revokeSession({ session: session.id })).toBe('revoked');
    const claim = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 1, waitMs: 0 };
    const { deliveries, lane } = await store.claimCalls(claim);

    expect(deliveries).toHaveLength(1);
    expect(lane.epoch).not.toBe(deliveries[0]!.epoch);
    expect((await store.readSession(session.id))!.revoked).toBe(true);
    expect(await store.revokeSession({ session: session.id })).toBe('revoked');
  });

  it('revoke of one session only costs the others of its lane a second look', async () => {
    const store = await scene.open();
    const revoked = await openSession(store);
    const live = await openSession(store, { lane: revoked.lane });
    await acceptOne(store, live);
    await store.revokeSession({ session: revoked.id });
    const delivery = await claimOne(store, { lane: live.lane });
    const answer = await store.recheckSessions({
      lane: live.lane,
      sessions: [
        { session: revoked.id, run: revoked.run },
        { session: live.id, run: live.run },
      ],
    });
    expect(answer.endings).toEqual(['revoked', undefined]);
    expect(answer.lane.epoch).not.toBe(delivery.epoch);

    await acceptOne(store, live);
    expect((await claimOne(store, { lane: live.lane })).epoch).toBe(answer.lane.epoch);
  });

  it('recheck answers in the order asked, with every kind of ending', async () => {
    const store = await scene.open();
    const live = await openSession(store);
    const { lane } = live;
    const revoked = await openSession(store, { lane });
    await store.revokeSession({ session: revoked.id });
    const expired = await openSession(store, { lane, lifetimeMs: 5 });
    const ended = await openSession(store, { lane });
    await store.endRun({ session: ended.id, run: ended.run });
    await storeTimeAfter(store, expired.expiresAt);
    const absent = newSessionId(live.identity.tenant, live.identity.subject, store.lanes);

    const asked = [revoked, live, ended, expired, live];
    const sessions = asked.map(({ id, run }) => ({ session: id, run }));
    const { endings } = await store.recheckSessions({
      lane,
      sessions: [...sessions, { session: absent, run: live.run }],
    });
    expect(endings.toSpliced(3, 1)).toEqual(['revoked', undefined, 'run-unknown', undefined, 'unknown']);
    // A store may have deleted an expired session: then its ending is `unknown`.
    expect(['expired', 'unknown']).toContain(endings[3]);
  });

  it('the epoch stands still while nothing is revoked', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const before = await laneState(store, session.lane);
    await openSession(store, { lane: session.lane });
    await store.touchSession(session.id);
    await acceptOne(store, session);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.epoch).toBe(before.epoch);
    expect((await laneState(store, session.lane)).epoch).toBe(before.epoch);
  });
}
