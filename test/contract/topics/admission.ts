import { expect, it } from 'vitest';
import type { AdmissionLimits } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  cancelRequest,
  claimOne,
  encodedOutcome,
  holdOne,
  openSession,
  reapRequest,
  ROOMY,
  settleRequest,
  type CallOverrides,
  type TestSession,
} from '../fixtures.ts';
import { expectNothingWritten, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const within = (limits: Partial<AdmissionLimits>): AdmissionLimits => ({ ...ROOMY, ...limits });

/** The kind of answer to an accept. For a refusal that is malformed or that left something behind, it also states what is wrong. */
async function acceptKind(store: Store, session: TestSession, overrides: CallOverrides): Promise<string> {
  const request = acceptRequest(session, overrides);
  const answer = await store.acceptCall(request);
  if (answer.kind !== 'overloaded') return answer.kind;
  if (!(Number(answer.retryAfterMs) > 0)) return `overloaded, with ${JSON.stringify(answer)}`;
  const known = await store.readCall(request.callId);
  return known !== undefined && known.bodyDigest === request.bodyDigest ? 'overloaded, but written' : 'overloaded';
}

export function describeAdmission(scene: Scene): void {
  it('accept refuses the call above liveCalls, writes nothing of it, and takes the next after a settle', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ liveCalls: 2 });
    await acceptMany(store, session, 2, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');

    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    await acceptOne(store, session, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
  });

  it('a refused call leaves its key unused', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ liveCalls: 1 });
    const [first] = await acceptMany(store, session, 1, { admission });
    const request = acceptRequest(session, { key: 'k', admission });
    await store.acceptCall(request);
    await expectNothingWritten(store, request.callId, session.lane);
    await store.cancelCall(cancelRequest(first!));
    expect(await store.acceptCall(request)).toEqual({ kind: 'accepted', callId: request.callId });
  });

  it('cancelled and expired calls no longer count as live', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ liveCalls: 2 });
    const cancelled = await acceptOne(store, session, { admission });
    const expired = await acceptOne(store, session, { admission, deadlineMs: 5 });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
    await store.cancelCall(cancelRequest(cancelled));
    await acceptOne(store, session, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');

    await storeTimeAfter(store, (await store.now()) + 5);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([expired]);
    await acceptOne(store, session, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
  });

  it('accept refuses what would exceed liveBytes and takes it after a settle', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const big = { envelope: new Uint8Array(40_000), admission: within({ liveBytes: 60_000 }) };
    await acceptOne(store, session, big);
    expect(await acceptKind(store, session, big)).toBe('overloaded');
    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    await acceptOne(store, session, big);
  });

  it('accept refuses above retainedBytes', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ retainedBytes: 50_000 });
    const delivery = await holdOne(store, session, { admission });
    await store.settleCall(settleRequest(delivery, encodedOutcome('ok', 'x'.repeat(60_000))));
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
    await acceptOne(store, session);
  });

  it("accept refuses above the subject's backlog and leaves other subjects alone", async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ subjectWindow: 1, subjectBacklog: 2 });
    await acceptMany(store, session, 3, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
    const other = await openSession(store, { lane: session.lane });
    await acceptOne(store, other, { admission });

    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    await acceptOne(store, session, { admission });
  });

  it('a cancelled call leaves its place in the backlog', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ subjectWindow: 1, subjectBacklog: 1 });
    const [, waiting] = await acceptMany(store, session, 2, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
    await store.cancelCall(cancelRequest(waiting!));
    expect(await acceptKind(store, session, { admission })).toBe('accepted');
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
  });

  it('an overloaded store still attaches, replays and names conflicts', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const settled = await holdOne(store, session, { key: 'settled' });
    await store.settleCall(settleRequest(settled));
    await acceptOne(store, session, { key: 'live' });
    const admission = within({ liveCalls: 1 });
    const kindOf = (overrides: CallOverrides) => acceptKind(store, session, { admission, ...overrides });

    expect(await kindOf({ key: 'new' })).toBe('overloaded');
    expect(await kindOf({ key: 'live' })).toBe('attached');
    expect(await kindOf({ key: 'settled' })).toBe('replayed');
    expect(await kindOf({ key: 'live', arguments: '{"n":1}' })).toBe('conflict');
  });

  it('an overloaded store still settles and cancels', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = within({ liveCalls: 2 });
    const delivery = await holdOne(store, session, { admission });
    const queued = await acceptOne(store, session, { admission });
    expect(await acceptKind(store, session, { admission })).toBe('overloaded');
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    expect(await store.cancelCall(cancelRequest(queued))).toBe('cancelled');
  });
}
