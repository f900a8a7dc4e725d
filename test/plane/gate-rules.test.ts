import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Rule } from '../../src/domain/policy/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import {
  decide,
  GATE_MODULES,
  letter,
  OPERATOR,
  park,
  policyWith,
  recordOf,
  recordsOf,
  sentLetters,
} from './support/gate-plane.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, queueCounts } from './support/watch-plane.ts';

const RULES: readonly Rule[] = [
  {
    id: 'no-spam',
    verdict: 'deny',
    tools: ['desk.send'],
    arguments: [{ at: '/text', prefix: 'spam' }],
    reason: 'Nobody reads it.',
  },
  { id: 'no-enemy', verdict: 'deny', tools: ['desk.*'], arguments: [{ at: '/to', equals: 'the enemy' }] },
  {
    id: 'outgoing',
    verdict: 'ask',
    tools: ['desk.send'],
    arguments: [{ at: '/text', prefix: 'ask' }],
    reason: 'Something leaves the house.',
  },
  {
    id: 'hurried',
    verdict: 'ask',
    tools: ['desk.send'],
    arguments: [{ at: '/text', prefix: 'hurry' }],
    ask: { timeoutMs: 1000 },
  },
  { id: 'known', verdict: 'allow', tools: ['desk.copy'] },
];

describe.each(BACKENDS)('rules on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(policyWith(RULES, { unattended: ['robot'] }));
    // The worker has one slot: a call that keeps it stops all others.
    await plane.startWorker({ modules: GATE_MODULES, concurrency: 1 });
  });
  beforeEach(async () => {
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  const send = (text: string, more = {}) => park(plane, session, 'desk.send', letter(plane, text, more));
  const NOT_RUN = { kind: 'denied', executed: 'no' };

  it('that deny end the call with their name and reason, in outcome and audit', async () => {
    const answer = await plane.client.call(session, 'desk.send', letter(plane, 'spam'), { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    expect(answer.outcome).toMatchObject({ ...NOT_RUN, error: { code: 'RULE_DENIED', facts: { rule: 'no-spam' } } });
    expect(answer.outcome.error?.message).toContain('Rule "no-spam" denies this call of desk.send: Nobody reads it.');
    const { detail } = await recordOf(plane, answer.callId, 'call.settled');
    expect(detail).toMatchObject({ outcome: 'denied', code: 'RULE_DENIED', rule: 'no-spam' });
    expect(sentLetters(plane, 'spam')).toEqual([]);
  });

  it('that allow by name are named in the audit', async () => {
    const answer = await plane.client.call(session, 'desk.copy', letter(plane, 'copied'), { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    expect(answer.outcome.kind).toBe('ok');
    expect((await recordOf(plane, answer.callId, 'call.settled')).detail).toMatchObject({ rule: 'known' });
  });

  it('that ask park the call: no slot is held, and a worker with one goes on', async () => {
    const parked = await send('ask and wait');
    expect(parked.approval.question).toMatchObject({
      tool: 'desk.send',
      arguments: canonicalJson(letter(plane, 'ask and wait')),
      reasons: ['rule outgoing: Something leaves the house.'],
    });
    expect(await queueCounts(plane)).toEqual({ queued: 0, leased: 0 });
    expect(await plane.client.result(session, parked.callId)).toMatchObject({
      kind: 'pending',
      approval: parked.approval.question.id,
    });
    expect((await callFor(plane, session, 'desk.look', { text: 'meanwhile' })).kind).toBe('ok');
    expect(sentLetters(plane, 'ask and wait')).toEqual([]);

    await decide(plane, parked.approval, 'allow-once');
    expect(await parked.outcome).toMatchObject({ kind: 'ok', executed: 'yes' });
    expect(sentLetters(plane, 'ask and wait')).toEqual([{ text: 'ask and wait', callId: parked.callId }]);
    const events = (await recordsOf(plane, parked.callId)).map(({ event }) => event);
    expect(events).toEqual(['approval.requested', 'approval.decided', 'call.settled']);
    const { detail, approval } = await recordOf(plane, parked.callId, 'call.settled');
    expect([detail['approval'], approval]).toEqual([parked.approval.question.id, parked.approval.question.id]);
  });

  it('allow once and no more: the same call asks again', async () => {
    const first = await send('ask once');
    await decide(plane, first.approval, 'allow-once');
    expect((await first.outcome).kind).toBe('ok');
    const second = await send('ask once');
    await decide(plane, second.approval, 'deny');
    expect(await second.outcome).toMatchObject(NOT_RUN);
    expect(sentLetters(plane, 'ask once').map(({ callId }) => callId)).toEqual([first.callId]);
  });

  it('denied by a person end the call with their comment', async () => {
    const parked = await send('ask in vain');
    await decide(plane, parked.approval, 'deny', { comment: 'not on a Friday' });
    const outcome = await parked.outcome;
    expect(outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_DENIED' } });
    expect(outcome.error?.message).toContain('not on a Friday');
    expect(sentLetters(plane, 'ask in vain')).toEqual([]);
  });

  it('that are not answered in time deny', async () => {
    const parked = await send('hurry');
    expect(await parked.outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_EXPIRED' } });
    const { question } = parked.approval;
    const late = { decision: 'allow-once', binding: question.binding } as const;
    expect(await plane.client.approvals.decide(OPERATOR, question.id, late)).toEqual({
      kind: 'already-decided',
      state: 'expired',
    });
    expect(sentLetters(plane, 'hurry')).toEqual([]);
  });

  it('leave nothing to decide when the caller gives up', async () => {
    const controller = new AbortController();
    const args = letter(plane, 'ask, then give up');
    const parked = await park(plane, session, 'desk.send', args, { signal: controller.signal });
    controller.abort();
    await parked.outcome.catch(() => undefined);
    const waited = await plane.client.wait(session, parked.callId, { waitMs: 60_000 });
    expect(waited).toMatchObject({ kind: 'settled', outcome: { executed: 'no', error: { code: 'APPROVAL_ABORTED' } } });
    expect(await plane.store.readApproval(parked.approval.question.id)).toMatchObject({ state: 'cancelled' });
    expect(sentLetters(plane, 'ask, then give up')).toEqual([]);
  });

  it('leave nothing to decide when the session is revoked', async () => {
    const parked = await send('ask, then leave');
    await plane.client.revokeSession(session.id);
    const { question } = parked.approval;
    const ended = await plane.client.approvals.wait(OPERATOR, question.id, { waitMs: 60_000 });
    expect(ended).toMatchObject({ state: 'cancelled', resolution: 'cancelled' });
    const [, record] = (await recordsOf(plane, parked.callId)).map(({ event, detail }) => ({ event, detail }));
    expect(record?.event).toBe('approval.cancelled');
    const late = { decision: 'allow-once', binding: question.binding } as const;
    expect((await plane.client.approvals.decide(OPERATOR, question.id, late)).kind).toBe('already-decided');
    expect(sentLetters(plane, 'ask, then leave')).toEqual([]);
  });

  it('of an unattended agent, or one that acts for it, deny at once what they would ask about', async () => {
    const robot = await plane.client.openSession({ subject: 'alice', agent: 'robot' });
    const outcome = await callFor(plane, robot, 'desk.send', letter(plane, 'ask by a robot'));
    expect(outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_DENIED_AT_ONCE' } });
    const helper = await plane.client.openSession({ subject: 'alice', agent: 'helper', delegatedBy: robot });
    expect(await callFor(plane, helper, 'desk.send', letter(plane, 'ask by a robot'))).toMatchObject(NOT_RUN);
    expect((await callFor(plane, robot, 'desk.send', letter(plane, 'plain by a robot'))).kind).toBe('ok');
    expect(sentLetters(plane, 'ask by a robot')).toEqual([]);
  });

  it('in an unattended session, in its delegates and in an unattended run, deny at once what they would ask about', async () => {
    const night = await plane.client.openSession({ subject: 'alice', agent: 'worker', unattended: true });
    const delegate = await plane.client.openSession({ subject: 'alice', agent: 'helper', delegatedBy: night });
    const run = await plane.client.openRun(session, { unattended: true });
    const delegateOfRun = await plane.client.openSession({ subject: 'alice', agent: 'helper', delegatedBy: run });
    for (const caller of [night, await plane.client.openRun(night), delegate, run, delegateOfRun]) {
      const answer = await plane.client.call(caller, 'desk.send', letter(plane, 'ask at night'), { waitMs: 10_000 });
      if (answer.kind !== 'settled') throw new Error(`${answer.kind}: a person was asked`);
      expect(answer.outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_DENIED_AT_ONCE' } });
      const why = caller.run === run.run ? 'the run is unattended' : 'the session is unattended';
      expect(answer.outcome.error?.facts).toMatchObject({ reason: why });
    }
    expect((await callFor(plane, night, 'desk.send', letter(plane, 'plain at night'))).kind).toBe('ok');
    // The other runs of the session are attended.
    const asked = await send('ask by day');
    await decide(plane, asked.approval, 'deny');
    expect(sentLetters(plane, 'ask at night')).toEqual([]);
  });

  it('do not ask a third time what was denied twice in the run, but ask about another call, and in another run', async () => {
    for (let round = 0; round < 2; round += 1) {
      const parked = await send('ask thrice');
      await decide(plane, parked.approval, 'deny');
      expect((await parked.outcome).error?.code).toBe('APPROVAL_DENIED');
    }
    for (let round = 0; round < 2; round += 1) {
      const outcome = await callFor(plane, session, 'desk.send', letter(plane, 'ask thrice'));
      expect(outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_DENIED_AT_ONCE' } });
    }
    const other = await send('ask something else');
    const fresh = await park(plane, await plane.client.openRun(session), 'desk.send', letter(plane, 'ask thrice'));
    for (const { approval } of [other, fresh]) await decide(plane, approval, 'deny');
    expect(sentLetters(plane, 'ask thrice')).toEqual([]);
  });

  describe('answered with other arguments', () => {
    it('run these and nothing else', async () => {
      const parked = await send('ask, to be edited');
      const edited = letter(plane, 'edited', { to: 'bob' });
      await decide(plane, parked.approval, 'allow-once', { arguments: edited });
      expect((await parked.outcome).kind).toBe('ok');
      expect(sentLetters(plane).filter(({ callId }) => callId === parked.callId)).toEqual([
        { text: 'edited', to: 'bob', callId: parked.callId },
      ]);
      const { detail } = await recordOf(plane, parked.callId, 'call.settled');
      expect(detail['effectiveDigest']).toBe(sha256(canonicalJson(edited)));
    });

    it('that are not the tool’s refuse the call', async () => {
      const parked = await send('ask, edited badly');
      await decide(plane, parked.approval, 'allow-once', { arguments: letter(plane, 'x', { to: 'x'.repeat(41) }) });
      expect(await parked.outcome).toMatchObject({ executed: 'no', error: { code: 'ARGUMENTS_INVALID' } });
      expect(sentLetters(plane).filter(({ callId }) => callId === parked.callId)).toEqual([]);
    });

    it('that a rule denies are denied', async () => {
      const parked = await send('ask, edited for the enemy');
      await decide(plane, parked.approval, 'allow-once', { arguments: letter(plane, 'x', { to: 'the enemy' }) });
      expect(await parked.outcome).toMatchObject({ ...NOT_RUN, error: { facts: { rule: 'no-enemy' } } });
      expect(sentLetters(plane).filter(({ callId }) => callId === parked.callId)).toEqual([]);
    });

    it('that another rule asks about are asked about', async () => {
      const parked = await send('ask, edited into a hurry');
      await decide(plane, parked.approval, 'allow-once', { arguments: letter(plane, 'hurry up') });
      expect(await parked.outcome).toMatchObject({ ...NOT_RUN, error: { code: 'APPROVAL_EXPIRED' } });
      const asked = (await recordsOf(plane, parked.callId)).filter(({ event }) => event === 'approval.requested');
      expect(asked.map(({ detail }) => detail['askers'])).toEqual([['rule outgoing'], ['rule hurried']]);
      expect(sentLetters(plane, 'hurry up')).toEqual([]);
    });
  });
});
