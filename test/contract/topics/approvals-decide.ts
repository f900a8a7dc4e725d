import { expect, it } from 'vitest';
import type { ApprovalDecision } from '../../../src/domain/policy/approval.ts';
import { CLOSED_POLICY } from '../../../src/domain/policy/policy.ts';
import { newGrantId } from '../../../src/domain/identity/new-id.ts';
import {
  ALICE,
  allow,
  askAbout,
  askRequest,
  BOB,
  callIds,
  claimMany,
  claimOne,
  decideRequest,
  DENIED,
  DENIED_MAY_HAVE_RUN,
  detail,
  encodedOutcome,
  holdOne,
  HOUR_MS,
  newGrant,
  newWaiter,
  openSession,
  OPERATOR,
  reapRequest,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import {
  auditEvents,
  auditOf,
  withEnding,
  drainReplies,
  laneState,
  reclaimOne,
  recordOf,
  sameBytes,
  storeTimeAfter,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

const DECIDED = { kind: 'decided', state: 'allowed' };

export function describeDeciding(scene: Scene): void {
  it('allow queues the exact bytes again under a higher fence, with the approval and the time it had left', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parked = await holdOne(store, session);
    const asked = await askAbout(store, parked);
    const before = await store.now();
    // This moves the lane's epoch. An allowed call has the epoch of its decision, because the decision checks the session again.
    await store.writePolicy({ expectedVersion: 0, policy: CLOSED_POLICY });
    await allow(store, asked, { comment: 'fine by me', deadlineMs: 7_000 });

    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(parked.callId);
    expect(delivery.fence).toBeGreaterThan(parked.fence);
    expect(delivery.envelope).toEqual(sameBytes(parked.envelope));
    expect(delivery.resumedWith).toEqual({ approval: asked.question.id, untouched: true });
    expect(delivery.recovered).toMatchObject({ starts: 0, wasRunning: false });
    const left = parked.deadline - (await store.readApproval(asked.question.id))!.requestedAt;
    expect(delivery.deadline).toBeGreaterThanOrEqual(before + left);
    expect(delivery.deadline).toBeLessThanOrEqual((await store.now()) + left);
    expect((await recordOf(store, parked.callId)).deadline).toBe(delivery.deadline);
    expect(delivery.epoch).toBe((await laneState(store, session.lane)).epoch);
    expect(delivery.epoch).not.toBe(parked.epoch);
    expect(await store.settleCall(settleRequest(parked))).toBe('fenced');
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'started', starts: 1 });
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');

    const approval = (await store.readApproval(asked.question.id))!;
    expect(approval).toMatchObject({ state: 'allowed', resolution: 'allow-once', callback: 'none' });
    expect(approval.votes).toEqual([
      {
        by: ALICE,
        decision: 'allow-once',
        at: approval.resolvedAt,
        binding: asked.question.binding,
        comment: 'fine by me',
      },
    ]);
    expect(await auditOf(store, parked.callId)).toEqual(
      ['approval.requested', 'approval.decided', 'call.settled'].map((event) =>
        expect.objectContaining({ event, approval: asked.question.id }),
      ),
    );
  });

  it('an allowed call with little time left gets at least what the decision gives it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session, { deadlineMs: 2_000 }));
    const before = await store.now();
    await allow(store, asked, { deadlineMs: 30_000 });
    expect((await claimOne(store, { lane: session.lane })).deadline).toBeGreaterThanOrEqual(before + 30_000);
  });

  it('deny settles the call in the same step and answers every waiter', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const parked = await holdOne(store, session, { waiter });
    const asked = await askAbout(store, parked);
    expect(await store.decideApproval(decideRequest(asked, 'deny', { audit: detail('no') }))).toEqual({
      kind: 'decided',
      state: 'denied',
    });
    expect(await recordOf(store, parked.callId)).toMatchObject({ state: 'settled', outcome: sameBytes(DENIED) });
    expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([
      { kind: 'settled', correlationId: waiter.correlationId, outcome: sameBytes(DENIED) },
    ]);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await store.settleCall(settleRequest(parked))).toBe('fenced');
    expect(await auditOf(store, parked.callId)).toEqual([
      expect.objectContaining({ event: 'approval.requested' }),
      expect.objectContaining({ event: 'approval.decided', detail: sameBytes(detail('no')) }),
      expect.objectContaining({
        event: 'call.settled',
        detail: withEnding(detail('no'), { outcome: 'denied', executed: 'no' }),
      }),
    ]);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([]);
  });

  it('deny of a call that a lost worker may have run does not say that it did not run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await askAbout(store, await holdOne(store, session), { mayHaveRun: true });
    const lost = await holdOne(store, session);
    await store.startCall(startRequest(lost, { effect: 'read' }));
    const started = await askAbout(store, await reclaimOne(store, lost));
    for (const asked of [held, started]) {
      await store.decideApproval(decideRequest(asked, 'deny'));
      expect((await recordOf(store, asked.callId)).outcome).toEqual(sameBytes(DENIED_MAY_HAVE_RUN));
    }
  });

  it.each<[ApprovalDecision, ApprovalDecision]>([
    ['allow-once', 'deny'],
    ['deny', 'allow-once'],
    ['allow-always', 'allow-once'],
  ])('%s is the first answer and wins over %s', async (first, second) => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    const state = first === 'deny' ? 'denied' : 'allowed';
    expect(await store.decideApproval(decideRequest(asked, first))).toEqual({ kind: 'decided', state });
    const already = { kind: 'already-decided', state };
    expect(await store.decideApproval(decideRequest(asked, second))).toEqual(already);
    expect(await store.decideApproval(decideRequest(asked, first, { by: BOB }))).toEqual(already);
    expect(await store.decideApproval(decideRequest(asked, second, { by: OPERATOR }))).toEqual(already);
    expect((await store.readApproval(asked.question.id))?.votes).toHaveLength(1);
  });

  it.each(['allow-once', 'allow-always', 'deny'] as const)(
    '%s by the same principal, repeated, gets the same answer and changes nothing',
    async (decision) => {
      const store = await scene.open();
      const session = await openSession(store);
      const asked = await askAbout(store, await holdOne(store, session));
      const wish = () => (decision === 'allow-always' ? { grant: newGrant(asked) } : {});
      const request = decideRequest(asked, decision, wish());
      const first = await store.decideApproval(request);
      const events = await auditEvents(store, asked.callId);
      expect(await store.decideApproval(request)).toEqual(first);
      expect(await store.decideApproval({ ...request, ...wish() })).toEqual(first);
      expect(await store.listGrants({ limit: 10 })).toHaveLength(decision === 'allow-always' ? 1 : 0);
      expect(await auditEvents(store, asked.callId)).toEqual(events);
      const delivered = await claimMany(store, { lane: session.lane });
      expect(callIds(delivered)).toEqual(decision === 'deny' ? [] : [asked.callId]);
      expect(await store.decideApproval(request)).toEqual(first);
      for (const delivery of delivered) expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
      expect(await store.decideApproval(request)).toEqual(first);
    },
  );

  it('a decision that names another binding decides nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [asked, other] = [
      await askAbout(store, await holdOne(store, session)),
      await askAbout(store, await holdOne(store, session)),
    ];
    for (const binding of ['', other.question.binding, asked.question.binding.toUpperCase()]) {
      expect(await store.decideApproval(decideRequest(asked, 'allow-once', { binding }))).toEqual({ kind: 'mismatch' });
    }
    expect((await store.readApproval(asked.question.id))?.state).toBe('pending');
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('a decision that was not offered gets the list of offered ones, and the question stays pending', async () => {
    const store = await scene.open();
    const decisions: ApprovalDecision[] = ['allow-once', 'deny'];
    const asked = await askAbout(store, await holdOne(store, await openSession(store)), { question: { decisions } });
    expect(await store.decideApproval(decideRequest(asked, 'allow-always'))).toEqual({
      kind: 'not-offered',
      decisions,
    });
    await expect(store.decideApproval(decideRequest(asked, 'allow' as ApprovalDecision))).rejects.toMatchObject({
      code: 'APPROVAL_INVALID',
    });
    expect((await store.readApproval(asked.question.id))?.state).toBe('pending');
  });

  it('the requester decides only where that is allowed, and is distinguished from others of the same name', async () => {
    const store = await scene.open();
    const subject = 'user with / and : in %2F the name';
    const session = await openSession(store, { subject });
    const requester = { kind: 'subject', name: `acme/${subject}` } as const;
    const asked = await askAbout(store, await holdOne(store, session));
    for (const decision of ['allow-once', 'deny'] as const) {
      const request = decideRequest(asked, decision, { by: requester });
      expect(await store.decideApproval(request)).toEqual({ kind: 'not-yours' });
    }
    for (const by of [
      { kind: 'subject', name: `other/${subject}` },
      { kind: 'operator', name: requester.name },
    ] as const) {
      const again = await askAbout(store, await holdOne(store, session));
      expect(await store.decideApproval(decideRequest(again, 'allow-once', { by }))).toEqual(DECIDED);
      expect((await store.readApproval(again.question.id))?.votes).toMatchObject([{ by }]);
      await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    }
    const open = await askAbout(store, await holdOne(store, session), { question: { requesterMayDecide: true } });
    expect(await store.decideApproval(decideRequest(open, 'allow-once', { by: requester }))).toEqual(DECIDED);
  });

  it('a quorum needs so many different principals, and counts each once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session), { question: { quorum: 3 } });
    const say = (by: typeof ALICE, decision: ApprovalDecision = 'allow-once') =>
      store.decideApproval(decideRequest(asked, decision, { by }));
    expect(await say(ALICE)).toEqual({ kind: 'counted', missing: 2 });
    expect(await say(ALICE)).toEqual({ kind: 'counted', missing: 2 });
    expect(await say(ALICE, 'allow-always')).toEqual({ kind: 'already-decided', state: 'pending' });
    expect(await say(BOB)).toEqual({ kind: 'counted', missing: 1 });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await say(OPERATOR)).toEqual(DECIDED);
    expect(await say(ALICE)).toEqual(DECIDED);
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([asked.callId]);
    expect((await store.readApproval(asked.question.id))?.votes.map(({ by }) => by)).toEqual([ALICE, BOB, OPERATOR]);
    expect(await auditEvents(store, asked.callId)).toEqual([
      'approval.requested',
      'approval.voted',
      'approval.voted',
      'approval.decided',
    ]);
  });

  it('the first deny ends a quorum, also from an approver that had said yes', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const denier of [ALICE, BOB]) {
      const asked = await askAbout(store, await holdOne(store, session), { question: { quorum: 2 } });
      await store.decideApproval(decideRequest(asked));
      const denied = { kind: 'decided', state: 'denied' };
      expect(await store.decideApproval(decideRequest(asked, 'deny', { by: denier }))).toEqual(denied);
      expect(await store.decideApproval(decideRequest(asked, 'deny', { by: denier }))).toEqual(denied);
      expect(await store.decideApproval(decideRequest(asked, 'allow-once', { by: OPERATOR }))).toEqual({
        kind: 'already-decided',
        state: 'denied',
      });
      expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'already-decided', state: 'denied' });
    }
  });

  it('a quorum allows for always only if every approver said so', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const [first, resolution] of [
      ['allow-once', 'allow-once'],
      ['allow-always', 'allow-always'],
    ] as const) {
      const asked = await askAbout(store, await holdOne(store, session), { question: { quorum: 2 } });
      await store.decideApproval(
        decideRequest(asked, first, first === 'allow-always' ? { grant: newGrant(asked) } : {}),
      );
      expect(await store.listGrants({ limit: 10 })).toEqual([]);
      const grant = newGrant(asked);
      const answer = await store.decideApproval(decideRequest(asked, 'allow-always', { by: BOB, grant }));
      expect(answer).toEqual(resolution === 'allow-once' ? DECIDED : { ...DECIDED, grant: grant.id });
      expect((await store.readApproval(asked.question.id))?.resolution).toBe(resolution);
      await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    }
    expect(await store.listGrants({ limit: 10 })).toHaveLength(1);
  });

  it('edited arguments stand beside the question, which stays as it was', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    const editedArguments = '{"path":"äöü\u2028.txt"}';
    const request = decideRequest(asked, 'allow-once', { editedArguments });
    expect(await store.decideApproval(request)).toEqual(DECIDED);
    expect(await store.decideApproval(request)).toEqual(DECIDED);
    expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'already-decided', state: 'allowed' });
    const approval = (await store.readApproval(asked.question.id))!;
    expect(approval.editedArguments).toBe(editedArguments);
    expect(approval.question).toEqual(asked.question);
    expect(approval.votes).toMatchObject([{ by: ALICE, binding: request.editedBinding }]);
    expect(request.editedBinding).not.toBe(asked.question.binding);
  });

  it('edited arguments and what binds them come together, or not at all', async () => {
    const store = await scene.open();
    const asked = await askAbout(store, await holdOne(store, await openSession(store)));
    const { editedBinding: _binding, ...unbound } = decideRequest(asked, 'allow-once', { editedArguments: '{}' });
    const binding = asked.question.binding;
    for (const request of [
      unbound,
      { ...unbound, editedBinding: 'nothing that binds' },
      { ...decideRequest(asked), editedBinding: binding },
    ]) {
      await expect(store.decideApproval(request)).rejects.toMatchObject({ code: 'APPROVAL_INVALID' });
    }
    expect((await store.readApproval(asked.question.id))?.state).toBe('pending');
  });

  it('edits come neither with a deny nor where several have to agree', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const editedArguments = '{}';
    const single = await askAbout(store, await holdOne(store, session));
    const several = await askAbout(store, await holdOne(store, session), { question: { quorum: 2 } });
    for (const request of [
      decideRequest(single, 'deny', { editedArguments }),
      decideRequest(several, 'allow-once', { editedArguments }),
    ]) {
      expect(await store.decideApproval(request)).toMatchObject({ kind: 'not-offered' });
    }
  });

  it('a question past its expiry by store time cannot be decided', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const request = askRequest(await holdOne(store, session), { timeoutMs: 50 });
    const answer = await store.askApproval(request);
    await storeTimeAfter(store, (answer as { expiresAt: number }).expiresAt);
    for (const decision of ['allow-once', 'deny'] as const) {
      expect(await store.decideApproval(decideRequest(request, decision))).toEqual({
        kind: 'already-decided',
        state: 'expired',
      });
    }
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('a question whose session has ended cannot be decided', async () => {
    const store = await scene.open();
    for (const end of ['revoke', 'end-run'] as const) {
      const session = await openSession(store);
      const asked = await askAbout(store, await holdOne(store, session));
      if (end === 'revoke') await store.revokeSession({ session: session.id });
      else await store.endRun({ session: session.id, run: session.run });
      expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'already-decided', state: 'cancelled' });
      expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    }
  });

  it('an approval that does not exist is unknown, for any form of its id', async () => {
    const store = await scene.open();
    const asked = askRequest(await holdOne(store, await openSession(store)));
    const decide = (id: string) => store.decideApproval({ ...decideRequest(asked), id: id as never });
    expect(await decide(asked.question.id)).toEqual({ kind: 'unknown' });
    for (const id of ['', 'x', '99.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa', asked.callId]) {
      expect(await decide(id)).toEqual({ kind: 'unknown' });
      expect(await store.readApproval(id as never)).toBeUndefined();
    }
  });

  it('the approval is delivered again when the allowed call is lost, and says that a worker had it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    await allow(store, asked);
    const first = await claimOne(store, { lane: session.lane });
    const taken = await reclaimOne(store, first);
    expect(taken.resumedWith).toEqual({ approval: asked.question.id, untouched: false });
    await store.abandonCall({ ...taken, handedBack: false });
    const again = await claimOne(store, { lane: session.lane });
    expect(again.resumedWith).toEqual({ approval: asked.question.id, untouched: false });
    expect(await store.settleCall(settleRequest(first))).toBe('fenced');
    expect(await store.settleCall(settleRequest(again, encodedOutcome('ok')))).toBe('settled');
  });

  it('a call that may have run before it was asked about is not untouched when it was allowed', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session), { mayHaveRun: true });
    await allow(store, asked);
    const { resumedWith } = await claimOne(store, { lane: session.lane });
    expect(resumedWith).toEqual({ approval: asked.question.id, untouched: false });
  });

  it('a grant for another subject, without end, or with another decision is refused', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    const stranger = await askAbout(store, await holdOne(store, await openSession(store)));
    for (const [decision, grant] of [
      ['allow-once', newGrant(asked)],
      ['allow-always', newGrant(stranger)],
      ['allow-always', newGrant(asked, { id: newGrantId(stranger.question.id) })],
      ['allow-always', newGrant(asked, { subject: 'somebody else' })],
      ['allow-always', newGrant(asked, { lifetimeMs: 366 * 24 * HOUR_MS })],
      ['allow-always', newGrant(asked, { usesLeft: 0 })],
    ] as const) {
      await expect(store.decideApproval(decideRequest(asked, decision, { grant }))).rejects.toMatchObject({
        code: 'APPROVAL_INVALID',
      });
    }
    expect(await store.listGrants({ limit: 10 })).toEqual([]);
  });
}
