import { expect, it } from 'vitest';
import { subjectShares, type SubjectLimits } from '../../../src/domain/call/subject-share.ts';
import type { AdmissionLimits } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import {
  acceptOne,
  acceptRequest,
  ALICE,
  askAbout,
  askRequest,
  cancelRequest,
  claimOne,
  decideRequest,
  encodedOutcome,
  holdOne,
  openSession,
  reapRequest,
  ROOMY,
  settleRequest,
  type TestSession,
} from '../fixtures.ts';
import { reclaimAll, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

const NOTHING: SubjectLimits = { liveBytes: 0, parkedBytes: 0, retainedBytes: 0, pendingApprovals: 0 };
const within = (limits: Partial<AdmissionLimits>): AdmissionLimits => ({ ...ROOMY, ...limits });
const sharing = (shares: Partial<SubjectLimits>): SubjectLimits => ({ ...subjectShares(ROOMY), ...shares });

/** The use of the only subject in a lane. */
async function useOf(store: Store, { lane }: TestSession): Promise<SubjectLimits> {
  return (await store.laneUse()).find((use) => use.lane === lane)!.fullestSubject!;
}

async function forgetAll(store: Store, lane: number): Promise<void> {
  await storeTimePasses(store, 50);
  for (let round = 0; round < 3; round += 1) await store.reapCalls(reapRequest(lane));
}

export function describeShares(scene: Scene): void {
  it('accept refuses a subject above its live bytes, and takes calls of another subject of the lane', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ subjectLiveBytes: 60_000 });
    const big = { envelope: new Uint8Array(40_000), admission };
    const first = await holdOne(store, session, big);
    expect(await store.acceptCall(acceptRequest(session, big))).toEqual({
      kind: 'share-full',
      share: 'liveBytes',
      limit: 60_000,
      retryAfterMs: 1000,
    });
    const other = await openSession(store, { lane: session.lane });
    await acceptOne(store, other, big);
    await store.settleCall(settleRequest(first));
    await acceptOne(store, session, big);
  });

  it('accept refuses a subject above its retained bytes until its outcomes are forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ subjectRetainedBytes: 50_000 });
    const delivery = await holdOne(store, session, { admission });
    const outcome = encodedOutcome('ok', 'x'.repeat(60_000));
    await store.settleCall(settleRequest(delivery, outcome, { retentionMs: 1 }));
    expect(await store.acceptCall(acceptRequest(session, { admission }))).toEqual({
      kind: 'share-full',
      share: 'retainedBytes',
      limit: 50_000,
    });
    const other = await openSession(store, { lane: session.lane });
    await acceptOne(store, other, { admission });
    await forgetAll(store, session.lane);
    await acceptOne(store, session, { admission });
  });

  it('ask refuses a subject above its pending questions, writes nothing, and asks again after a decision', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const shares = sharing({ pendingApprovals: 1 });
    const asked = await askAbout(store, await holdOne(store, session), { shares });
    const second = await holdOne(store, session);
    const full = { kind: 'share-full', share: 'pendingApprovals', limit: 1 };
    expect(await store.askApproval(askRequest(second, { shares }))).toEqual(full);
    expect(await store.listApprovals({ limit: 10 })).toHaveLength(1);

    const other = await openSession(store, { lane: session.lane });
    await askAbout(store, await holdOne(store, other), { shares });
    await store.decideApproval(decideRequest(asked, 'deny', { by: ALICE }));
    expect(await store.askApproval(askRequest(second, { shares }))).toMatchObject({ kind: 'asked' });
  });

  it("ask refuses what would exceed the parked or the live bytes of a subject; the call is still its worker's", async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const big = { envelope: new Uint8Array(40_000) };
    await askAbout(store, await holdOne(store, session, big));
    const second = await holdOne(store, session, big);
    const ask = (shares: Partial<SubjectLimits>) => store.askApproval(askRequest(second, { shares: sharing(shares) }));
    const [parked, live] = [{ parkedBytes: 70_000 }, { liveBytes: 80_500 }];
    expect(await ask(parked)).toEqual({ kind: 'share-full', share: 'parkedBytes', limit: 70_000 });
    expect(await ask(live)).toEqual({ kind: 'share-full', share: 'liveBytes', limit: 80_500 });
    expect(await store.settleCall(settleRequest(second, encodedOutcome('overloaded')))).toBe('settled');
  });

  it('a refusal names no time when only a person or an expiry makes room', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await askAbout(store, await holdOne(store, session, { envelope: new Uint8Array(40_000) }));
    const { callId } = await holdOne(store, session, { envelope: new Uint8Array(15_000) });
    const accept = async (limits: Partial<AdmissionLimits>) =>
      store.acceptCall(acceptRequest(session, { envelope: new Uint8Array(25_000), admission: within(limits) }));
    expect(await accept({ subjectLiveBytes: 60_000 })).toEqual({
      kind: 'share-full',
      share: 'liveBytes',
      limit: 60_000,
    });
    const roomy = { subjectLiveBytes: 1_000_000 };
    expect(await accept({ liveBytes: 60_000, ...roomy })).toEqual({ kind: 'overloaded', what: 'bytes of calls' });
    expect(await accept({ liveBytes: 70_000, ...roomy })).toEqual({
      kind: 'overloaded',
      what: 'bytes of calls',
      retryAfterMs: 1000,
    });
    await store.cancelCall(cancelRequest(callId));
    await acceptOne(store, session, { envelope: new Uint8Array(15_000), admission: within({ liveBytes: 60_000 }) });
  });

  it('a lane full of outcomes says when the first of them is forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const outcome = encodedOutcome('ok', 'x'.repeat(60_000));
    await store.settleCall(settleRequest(await holdOne(store, session), outcome, { retentionMs: 7_200_000 }));
    const admission = within({ retainedBytes: 50_000, subjectRetainedBytes: 200_000 });
    const answer = await store.acceptCall(acceptRequest(session, { admission }));
    expect(answer).toMatchObject({ kind: 'overloaded', what: 'bytes of outcomes' });
    const { retryAfterMs } = answer as { readonly retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(7_100_000);
    expect(retryAfterMs).toBeLessThan(7_300_000);
  });

  it('the use of a subject is counted exactly through settle, cancel, expiry, recovery, decisions and retention', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { lane } = session;
    const body = (bytes: number) => ({ envelope: new Uint8Array(bytes) });
    const brief = { retentionMs: 1 };
    expect(await useOf(store, session)).toEqual(NOTHING);

    const cancelled = await acceptOne(store, session, body(1000));
    const late = await acceptOne(store, session, { ...body(2000), deadlineMs: 5 });
    expect(await useOf(store, session)).toMatchObject({ liveBytes: 3000, retainedBytes: 0 });
    await store.cancelCall({ ...cancelRequest(cancelled), ...brief });
    expect((await useOf(store, session)).liveBytes).toBe(2000);
    await storeTimePasses(store, 20);
    expect((await store.reapCalls({ ...reapRequest(lane), ...brief })).expired).toEqual([late]);
    expect((await useOf(store, session)).liveBytes).toBe(0);

    await holdOne(store, session, body(4000));
    const [recovered] = await reclaimAll(store, lane);
    expect((await useOf(store, session)).liveBytes).toBe(4000);
    const asked = await askAbout(store, recovered!);
    const parked = await useOf(store, session);
    const question = Buffer.byteLength(JSON.stringify(asked.question));
    expect(parked).toMatchObject({ liveBytes: 4000 + question, parkedBytes: 4000 + question, pendingApprovals: 1 });
    const edited = { editedArguments: '{"n":1}', editedBinding: asked.question.binding };
    await store.decideApproval(decideRequest(asked, 'allow-once', { by: ALICE, ...edited }));
    expect(await useOf(store, session)).toMatchObject({
      liveBytes: 4000 + question + 7,
      parkedBytes: 0,
      pendingApprovals: 0,
    });
    const again = await askAbout(store, await claimOne(store, { lane }));
    await store.decideApproval(decideRequest(again, 'deny', { by: ALICE, ...brief }));
    expect(await useOf(store, session)).toMatchObject({ liveBytes: 0, parkedBytes: 0, pendingApprovals: 0 });

    await forgetAll(store, lane);
    expect(await useOf(store, session)).toEqual(NOTHING);
  });

  it('parked calls that expire, are cancelled or lose their session leave nothing in the counts', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { lane } = session;
    const brief = { retentionMs: 1 };
    await askAbout(store, await holdOne(store, session), { timeoutMs: 5 });
    const { callId } = await askAbout(store, await holdOne(store, session));
    await askAbout(store, await holdOne(store, session));
    expect((await useOf(store, session)).pendingApprovals).toBe(3);
    await store.cancelCall({ ...cancelRequest(callId), ...brief });
    await storeTimePasses(store, 20);
    await store.reapCalls({ ...reapRequest(lane), ...brief });
    expect((await useOf(store, session)).pendingApprovals).toBe(1);
    await store.revokeSession({ session: session.id });
    await store.reapCalls({ ...reapRequest(lane), ...brief });
    expect(await useOf(store, session)).toMatchObject({ liveBytes: 0, parkedBytes: 0, pendingApprovals: 0 });
    await forgetAll(store, lane);
    expect(await useOf(store, session)).toEqual(NOTHING);
  });

  it('a key that is released and used again counts each of its outcomes once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (let round = 0; round < 3; round += 1) {
      const delivery = await holdOne(store, session, { key: 'again' });
      const outcome = encodedOutcome('overloaded', 'x'.repeat(1000));
      await store.settleCall(settleRequest(delivery, outcome, { releaseKey: true, retentionMs: 1 }));
    }
    expect((await useOf(store, session)).retainedBytes).toBeGreaterThan(3000);
    await forgetAll(store, session.lane);
    expect(await useOf(store, session)).toEqual(NOTHING);
  });
}
