import { expect, it } from 'vitest';
import { newApprovalId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptOne,
  acceptRequest,
  allow,
  askAbout,
  askRequest,
  callIds,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  holdOne,
  HOUR_MS,
  openSession,
  ownedBy,
  ROOMY,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import {
  auditEvents,
  auditOf,
  readWholeAudit,
  reclaimAll,
  reclaimOne,
  recordOf,
  sameBytes,
  storeTimeAfter,
  storeTimePasses,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeAsking(scene: Scene): void {
  it('ask parks a call: no worker holds it, no worker can claim it, its audit names the approval', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const request = askRequest(delivery, { audit: detail('question') });
    const before = await store.now();
    const answer = await store.askApproval(request);
    expect(answer.kind).toBe('asked');

    const { id } = request.question;
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'parked', approval: id });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await reclaimAll(store, session.lane)).toEqual([]);
    expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(delivery)] })).toEqual(['fenced']);
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'fenced' });
    expect(await auditOf(store, delivery.callId)).toEqual([
      expect.objectContaining({ event: 'approval.requested', approval: id, detail: sameBytes(detail('question')) }),
    ]);
    const approval = (await store.readApproval(id))!;
    expect(approval).toEqual({
      question: request.question,
      state: 'pending',
      revealedBy: [],
      requestedAt: approval.requestedAt,
      expiresAt: approval.requestedAt + 24 * HOUR_MS,
      votes: [],
      askedBy: delivery.workerId,
      mayHaveRun: false,
      callback: 'none',
    });
    expect(approval.requestedAt).toBeGreaterThanOrEqual(before);
    expect(answer).toEqual({ kind: 'asked', expiresAt: approval.expiresAt });
  });

  it('ask keeps every word of the question, with any content', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store, { subject: 'böse / "subject"\u2028%20' }));
    const odd = { arguments: '{"text":"a\\n;approval=x \\u0000 „“ \u202e"}', title: 'a;b=c\nd', detail: '\0\r\n' };
    const request = await askAbout(store, delivery, { question: { ...odd, reasons: [], severity: 'critical' } });
    expect((await store.readApproval(request.question.id))?.question).toEqual(request.question);
  });

  it('ask repeated after a lost answer asks and audits once, also when it was decided meanwhile', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const request = askRequest(delivery);
    const first = await store.askApproval(request);
    expect(await store.askApproval(request)).toEqual(first);
    expect(await auditEvents(store, delivery.callId)).toEqual(['approval.requested']);
    await allow(store, request);
    expect(await store.askApproval(request)).toEqual(first);
    expect((await recordOf(store, delivery.callId)).state).toBe('queued');
    expect((await store.readApproval(request.question.id))?.state).toBe('allowed');
    expect(await store.askApproval(askRequest(delivery))).toEqual({ kind: 'fenced' });
    expect(await auditEvents(store, delivery.callId)).toEqual(['approval.requested', 'approval.decided']);
  });

  it('ask by a worker that lost the call asks nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    const current = await reclaimOne(store, lost);
    const request = askRequest(lost);
    expect(await store.askApproval(request)).toEqual({ kind: 'fenced' });
    expect(await store.readApproval(request.question.id)).toBeUndefined();
    expect(await store.listApprovals({ limit: 10 })).toEqual([]);
    expect(await store.settleCall(settleRequest(current))).toBe('settled');
    expect(await store.askApproval(askRequest(current))).toEqual({ kind: 'fenced' });
  });

  it('ask about a call that is to be cancelled, is late, or has lost its session asks nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const running = await holdOne(store, session);
    await store.startCall(startRequest(running, { effect: 'read' }));
    await store.cancelCall(cancelRequest(running.callId));
    expect(await store.askApproval(askRequest(running))).toEqual({ kind: 'cancelled' });

    const late = await holdOne(store, session, { deadlineMs: 50 });
    await storeTimeAfter(store, late.deadline);
    expect(await store.askApproval(askRequest(late))).toEqual({ kind: 'expired' });

    const other = await openSession(store);
    const orphan = await holdOne(store, other);
    await store.endRun({ session: other.id, run: other.run });
    expect(await store.askApproval(askRequest(orphan))).toEqual({ kind: 'session-ended', ending: 'run-unknown' });
    await store.revokeSession({ session: other.id });
    expect(await store.askApproval(askRequest(orphan))).toEqual({ kind: 'session-ended', ending: 'revoked' });
    expect(await store.listApprovals({ limit: 10 })).toEqual([]);
    const events = (await readWholeAudit(store, session.lane)).map(({ event }) => event);
    expect(events).not.toContain('approval.requested');
  });

  it('ask refuses a question about another call, in another scope, without deny, or without end', async () => {
    const store = await scene.open();
    const [delivery, stranger] = [
      await holdOne(store, await openSession(store)),
      await holdOne(store, await openSession(store)),
    ];
    const invalid = { code: 'APPROVAL_INVALID' };
    const ask = (overrides: Parameters<typeof askRequest>[1]) => store.askApproval(askRequest(delivery, overrides));
    await expect(ask({ question: { callId: stranger.callId } })).rejects.toMatchObject(invalid);
    await expect(ask({ question: { id: newApprovalId(stranger.callId) } })).rejects.toMatchObject(invalid);
    await expect(ask({ question: { decisions: ['allow-once'] } })).rejects.toMatchObject(invalid);
    await expect(ask({ question: { quorum: 0 } })).rejects.toMatchObject(invalid);
    await expect(ask({ timeoutMs: 0 })).rejects.toMatchObject(invalid);
    await expect(ask({ timeoutMs: 8 * 24 * HOUR_MS })).rejects.toMatchObject(invalid);
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('a parked call stands in no queue, and the bytes of its question count as its own until it is settled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const asked = await askAbout(store, delivery, { question: { arguments: `{"text":"${'x'.repeat(50_000)}"}` } });
    const { byteLength } = acceptRequest(session).envelope;
    const admission = { ...ROOMY, liveBytes: 50_000 + byteLength };
    expect(await store.acceptCall(acceptRequest(session, { admission }))).toMatchObject({ kind: 'overloaded' });
    await store.decideApproval(decideRequest(asked, 'deny'));
    expect(await store.acceptCall(acceptRequest(session, { admission }))).toMatchObject({ kind: 'accepted' });
    const kept = { ...ROOMY, retainedBytes: 50_000 };
    expect(await store.acceptCall(acceptRequest(session, { admission: kept }))).toMatchObject({ kind: 'overloaded' });
  });

  it('the idle expiry of a session stands still while a call of it is parked, and counts again from the answer on', async () => {
    const store = await scene.open();
    const idleMs = 1_000;
    for (const decision of ['allow-once', 'deny'] as const) {
      const session = await openSession(store, { idleMs });
      const asked = await askAbout(store, await holdOne(store, session));
      await storeTimePasses(store, idleMs + 5);
      const { id, tokenDigest } = session;
      expect(await store.proveSession({ session: id, tokenDigest })).toBeUndefined();
      await store.decideApproval(decideRequest(asked, decision));
      expect(await store.proveSession({ session: id, tokenDigest })).toBeUndefined();
      for (const resumed of await claimMany(store, { lane: session.lane })) {
        expect(await store.startCall(startRequest(resumed))).toEqual({ kind: 'started', starts: 1 });
      }
      await storeTimePasses(store, idleMs + 5);
      expect(await store.proveSession({ session: id, tokenDigest })).toBe('expired');
    }
  });

  it('the idle expiry stands still as long as any call of the session is parked', async () => {
    const store = await scene.open();
    const session = await openSession(store, { idleMs: 1_000 });
    const [first, second] = [await holdOne(store, session), await holdOne(store, session)];
    const [one, two] = [await askAbout(store, first), await askAbout(store, second)];
    await storeTimePasses(store, 1_005);
    await allow(store, one);
    await storeTimePasses(store, 1_005);
    await allow(store, two);
    expect(await store.touchSession(session.id)).toBe('touched');
  });

  it('a call can be asked about again after it was allowed, and both questions go with it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    const one = await askAbout(store, first);
    await allow(store, one);
    const second = await claimOne(store, { lane: session.lane });
    const two = await askAbout(store, second);
    expect(await store.decideApproval(decideRequest(one))).toEqual({ kind: 'decided', state: 'allowed' });
    expect((await recordOf(store, first.callId)).state).toBe('parked');
    await allow(store, two);
    const third = await claimOne(store, { lane: session.lane });
    expect(third.fence).toBeGreaterThan(second.fence);
    expect(third.resumedWith).toEqual({ approval: two.question.id, untouched: true });
    await store.settleCall(settleRequest(third, encodedOutcome('ok'), { retentionMs: 1 }));
    expect(await store.readApproval(one.question.id)).toMatchObject({ state: 'allowed' });
  });

  it('list returns pending questions by expiry, then the others, latest first', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const ids = [];
    for (const timeoutMs of [3 * HOUR_MS, HOUR_MS, 2 * HOUR_MS]) {
      ids.push((await askAbout(store, await holdOne(store, session), { timeoutMs })).question.id);
    }
    const decided = [];
    for (const decision of ['deny', 'allow-once'] as const) {
      const asked = await askAbout(store, await holdOne(store, session));
      await storeTimePasses(store, 1);
      await store.decideApproval(decideRequest(asked, decision));
      decided.push(asked.question.id);
    }
    const listed = async (request: Parameters<typeof store.listApprovals>[0]) =>
      (await store.listApprovals(request)).map(({ question }) => question.id);
    const pending = [ids[1], ids[2], ids[0]];
    expect(await listed({ limit: 10 })).toEqual([...pending, decided[1], decided[0]]);
    expect(await listed({ limit: 2 })).toEqual(pending.slice(0, 2));
    expect(await listed({ state: 'pending', limit: 10 })).toEqual(pending);
    expect(await listed({ state: 'denied', limit: 10 })).toEqual([decided[0]]);
    expect(await listed({ state: 'expired', limit: 10 })).toEqual([]);
  });

  it('list names a question once that is resolved while it is listed', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = [];
    for (let count = 0; count < 20; count += 1) asked.push(await askAbout(store, await holdOne(store, session)));
    const ids = asked.map(({ question }) => question.id).sort();
    const listing = [];
    for (const each of asked) {
      listing.push(store.listApprovals({ limit: 100 }));
      await store.decideApproval(decideRequest(each, 'deny'));
    }
    for (const listed of await Promise.all(listing))
      expect(listed.map(({ question }) => question.id).sort()).toEqual(ids);
  });

  it('match finds pending questions by the start of their id or of its last part, and no others', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second] = [
      await askAbout(store, await holdOne(store, session)),
      await askAbout(store, await holdOne(store, session)),
    ];
    const [id, other] = [first.question.id, second.question.id];
    const code = id.slice(id.lastIndexOf('.') + 1);
    const match = (prefix: string, limit = 10) => store.matchApprovals({ prefix, limit });
    expect(await match(id)).toEqual([id]);
    expect(await match(code.slice(0, 8))).toEqual([id]);
    expect(await match(id.slice(0, 10))).toEqual([id, other].sort());
    expect(await match(id.slice(0, 10), 1)).toHaveLength(1);
    expect(await match('%')).toEqual([]);
    expect(await match('_')).toEqual([id, other].filter((each) => /\._[^.]*$/.test(each)).sort());
    await store.decideApproval(decideRequest(first, 'deny'));
    expect(await match(code.slice(0, 8))).toEqual([]);
  });

  it('a parked call does not keep its place in the window', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1, subjectBacklog: 0 };
    await askAbout(store, await holdOne(store, session, { admission }));
    const next = await acceptOne(store, session, { admission });
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([next]);
  });
}
