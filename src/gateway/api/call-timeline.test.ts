import { describe, expect, it } from 'vitest';
import type { ApprovalView } from './approval-schema.ts';
import type { AuditRecordView } from './audit-schema.ts';
import type { CallDetail } from './call-schema.ts';
import { showStages, showVerdict } from './call-timeline.ts';

const CALL = { state: 'settled', acceptedAt: 1000, settledAt: 1100, durationMs: 80, executed: 'yes', outcome: 'ok' };
const ENDING = { event: 'call.settled', outcome: 'ok', permission: '*' };

function stagesOf(ending: object, approvals: readonly object[] = []) {
  return showStages({
    call: CALL as unknown as CallDetail['call'],
    audit: [{ ...ENDING, ...ending } as AuditRecordView],
    approvals: approvals as ApprovalView[],
  });
}

describe('the stages of a call', () => {
  it('take what the worker counted: waiting, gate and run add up to the whole', () => {
    expect(stagesOf({ gateMs: 30 })).toEqual([
      { stage: 'accept', startedAt: 1000, result: 'accepted' },
      { stage: 'admit', startedAt: 1000, endedAt: 1020, durationMs: 20 },
      { stage: 'identify', result: 'allowed by *' },
      { stage: 'gate', startedAt: 1020, endedAt: 1050, durationMs: 30, result: 'allow' },
      { stage: 'execute', startedAt: 1050, endedAt: 1100, durationMs: 50, result: 'ok' },
      { stage: 'settle', startedAt: 1100, result: 'call.settled' },
    ]);
  });

  it('count a gate that was not measured with the run, and claim no time for it', () => {
    const byName = Object.fromEntries(stagesOf({}).map((stage) => [stage.stage, stage.durationMs]));
    expect(byName).toEqual({ admit: 20, execute: 80 });
  });

  it('keep the microseconds that the worker measured, and whole milliseconds of the store', () => {
    const call = { ...CALL, durationMs: 0.12 } as unknown as CallDetail['call'];
    const stages = showStages({ call, audit: [ENDING as AuditRecordView], approvals: [] });
    expect(stages.find(({ stage }) => stage === 'execute')).toEqual({
      stage: 'execute',
      startedAt: 1100,
      endedAt: 1100,
      durationMs: 0.12,
      result: 'ok',
    });
  });

  it('start in their order, although the worker measured more than the store saw pass', () => {
    const call = { ...CALL, acceptedAt: 617, settledAt: 620, durationMs: 4 } as unknown as CallDetail['call'];
    expect(showStages({ call, audit: [ENDING as AuditRecordView], approvals: [] })).toMatchObject([
      { stage: 'accept', startedAt: 617 },
      { stage: 'admit', startedAt: 617, endedAt: 617, durationMs: 0 },
      { stage: 'identify' },
      { stage: 'gate', startedAt: 617 },
      { stage: 'execute', startedAt: 617, endedAt: 620, durationMs: 4 },
      { stage: 'settle', startedAt: 620 },
    ]);
  });

  it('start the run after the answer of the person who was asked', () => {
    const call = { ...CALL, durationMs: 95 } as unknown as CallDetail['call'];
    const asked = { requestedAt: 1002, resolvedAt: 1010, resolution: 'allow-once' } as unknown as ApprovalView;
    const stages = showStages({ call, audit: [ENDING as AuditRecordView], approvals: [asked] });
    expect(stages.find(({ stage }) => stage === 'execute')).toMatchObject({ startedAt: 1010, endedAt: 1100 });
  });

  it('give a refused call the time that its refusal took', () => {
    const call = { ...CALL, durationMs: 0.34, executed: 'no', outcome: 'denied' } as unknown as CallDetail['call'];
    const ending = { event: 'call.settled', outcome: 'denied' } as AuditRecordView;
    const gate = showStages({ call, audit: [ending], approvals: [] }).find(({ stage }) => stage === 'gate');
    expect(gate).toEqual({ stage: 'gate', startedAt: 1100, endedAt: 1100, durationMs: 0.34, result: 'denied' });
  });

  it('show how long a person was asked', () => {
    const asked = { requestedAt: 1005, resolvedAt: 1010, resolution: 'allow-once' };
    expect(stagesOf({}, [asked])[3]).toEqual({
      stage: 'gate',
      startedAt: 1005,
      endedAt: 1010,
      durationMs: 5,
      result: 'allow-once',
    });
  });
});

describe('the stages of a call that is not settled', () => {
  const live = (state: string, approvals: readonly object[] = []) =>
    showStages({
      call: { state, acceptedAt: 1000 } as unknown as CallDetail['call'],
      audit: approvals.length === 0 ? [] : [{ event: 'approval.requested', at: 1005 } as AuditRecordView],
      approvals: approvals as ApprovalView[],
    });
  const ACCEPTED = { stage: 'accept', startedAt: 1000, result: 'accepted' };

  it('end with the stage that the call is in, which has no end', () => {
    expect(live('queued')).toEqual([ACCEPTED, { stage: 'admit', startedAt: 1000, result: 'waiting' }]);
    expect(live('running').at(-1)).toEqual({ stage: 'execute', result: 'running' });
    expect(live('parked', [{ requestedAt: 1005, state: 'pending' }])).toEqual([
      ACCEPTED,
      { stage: 'admit', startedAt: 1000, endedAt: 1005, durationMs: 5 },
      { stage: 'gate', startedAt: 1005, result: 'asked a person, waiting' },
    ]);
  });

  it('wait for a worker again after the answer of the person', () => {
    const allowed = { requestedAt: 1005, resolvedAt: 1010, state: 'allowed', resolution: 'allow-once' };
    expect(live('queued', [allowed]).slice(2)).toEqual([
      { stage: 'gate', startedAt: 1005, endedAt: 1010, durationMs: 5, result: 'allow-once' },
      { stage: 'execute', startedAt: 1010, result: 'waiting' },
    ]);
  });
});

describe('the stages of a call that ended while a person was asked', () => {
  it.each([
    ['expired', { state: 'expired', resolution: 'timeout' }, { outcome: 'denied', code: 'APPROVAL_EXPIRED' }],
    ['cancelled', { state: 'cancelled', resolution: 'cancelled' }, { outcome: 'cancelled' }],
    ['denied', { state: 'denied', resolution: 'deny' }, { outcome: 'denied', code: 'APPROVAL_DENIED' }],
  ])('say at the gate that the question was %s', (result, resolved, ended) => {
    const approval = { requestedAt: 1005, resolvedAt: 1100, ...resolved } as unknown as ApprovalView;
    const call = { ...CALL, durationMs: undefined, executed: 'no', ...ended } as unknown as CallDetail['call'];
    const stages = showStages({ call, audit: [{ ...ENDING, ...ended } as AuditRecordView], approvals: [approval] });
    expect(stages.map(({ stage }) => stage)).toEqual(['accept', 'admit', 'identify', 'gate', 'settle']);
    expect(stages[3]).toMatchObject({ startedAt: 1005, endedAt: 1100, result });
  });
});

describe('the verdict on a call', () => {
  it('names the hooks that changed or withheld its result, which the gate had let run', () => {
    const changed = {
      event: 'call.settled',
      outcome: 'ok',
      resultChangedBy: ['guard.mask'],
    } as unknown as AuditRecordView;
    expect(showVerdict({ call: CALL as unknown as CallDetail['call'], audit: [changed], approvals: [] })).toEqual([
      { by: 'hook', id: 'guard.mask', decision: 'changed the result' },
    ]);
    const call = { ...CALL, outcome: 'blocked', code: 'HOOK_RESULT_WITHHELD' } as unknown as CallDetail['call'];
    const withheld = { event: 'call.settled', outcome: 'blocked', hook: 'guard.mask' } as AuditRecordView;
    const facts = { call, audit: [withheld], approvals: [] };
    expect(showVerdict(facts)).toEqual([{ by: 'hook', id: 'guard.mask', decision: 'withheld the result' }]);
    expect(showStages(facts).find(({ stage }) => stage === 'gate')).toMatchObject({ result: 'allow' });
  });

  it.each(['HOOK_BLOCKED', 'HOOK_FAILED', 'HOOK_ARGUMENTS_INVALID'])('of %s names the hook', (code) => {
    const call = { ...CALL, outcome: 'blocked', code, executed: 'no' } as unknown as CallDetail['call'];
    const ending = { event: 'call.settled', outcome: 'blocked', hook: 'guard.mail', detail: 'why' } as AuditRecordView;
    expect(showVerdict({ call, audit: [ending], approvals: [] })).toEqual([
      { by: 'hook', id: 'guard.mail', decision: 'block', reason: 'why' },
    ]);
  });
});
