import { expect } from 'vitest';
import type { ApprovalId } from '../../src/domain/policy/approval.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import {
  CANCELLED,
  CANCELLED_IF_HELD,
  CANCELLED_IF_PARKED,
  encodedOutcome,
  MAY_HAVE_RUN,
  SESSION_ENDED,
  TIMED_OUT,
} from './fixtures.ts';
import { encodedLabel, type Real } from './model-commands.ts';
import {
  DENIED_OUTCOME,
  MAY_HAVE_RUN_OUTCOME,
  RELEASING_OUTCOME,
  SESSION_ENDED_OUTCOME,
  TIMED_OUT_OUTCOME,
  visibleStates,
  type Model,
  type ModelCall,
} from './model.ts';
import type { AuditEntry } from '../../src/domain/ports/audit-store.ts';
import type { ReplyItem } from '../../src/domain/ports/call-requests.ts';
import { drainReplies, readWholeAudit, recordOf } from './observe.ts';

const BYTES: Record<string, Uint8Array> = {
  ok: encodedLabel('ok'),
  failed: encodedLabel('failed'),
  [RELEASING_OUTCOME]: encodedLabel(RELEASING_OUTCOME),
  'cancelled, nothing ran': CANCELLED,
  'cancelled, may be running': CANCELLED_IF_HELD,
  'cancelled, while a person was asked': CANCELLED_IF_PARKED,
  [DENIED_OUTCOME]: encodedOutcome('denied'),
  [SESSION_ENDED_OUTCOME]: SESSION_ENDED,
  [MAY_HAVE_RUN_OUTCOME]: MAY_HAVE_RUN,
  [TIMED_OUT_OUTCOME]: TIMED_OUT,
};

const labelOf = (bytes: Uint8Array): string | undefined =>
  Object.keys(BYTES).find((label) => Buffer.compare(BYTES[label]!, bytes) === 0);

/** Compares records, replies and audit at the end of a run with the model's. */
export async function expectAgreement(model: Model, real: Real): Promise<void> {
  const [store] = real.handles;
  expectSameReplies(model, await drainReplies(store, real.session.lane, real.callerId));
  const audit = await readWholeAudit(store, real.session.lane);
  for (const call of model.calls.values()) {
    await expectSameRecord(call, real);
    const own = audit.filter((entry) => entry.callId === call.callId);
    await expectSameAudit(call, real, own);
  }
}

/** Checks that each waiter of a settled call has its answer once, and that there is no other reply. */
export function expectSameReplies(model: Model, items: readonly ReplyItem[]): void {
  const replied = new Map(items.map((item) => [item.correlationId, item]));
  expect(items, 'replies').toHaveLength(replied.size);
  for (const call of model.calls.values()) {
    for (const waiter of call.waiters) {
      const item = replied.get(waiter);
      expect(item?.kind).toBe(call.state === 'settled' ? 'settled' : undefined);
      if (item?.kind === 'settled') expect(call.outcomes).toContain(labelOf(item.outcome));
      replied.delete(waiter);
    }
  }
  expect([...replied.keys()], 'replies to nobody').toEqual([]);
}

/** Checks that the audit has one record of the call's end, and the records of its questions. */
export async function expectSameAudit(call: ModelCall, real: Real, own: readonly AuditEntry[]): Promise<void> {
  await expectSameApprovals(call, real, own);
  const ending = call.cancelledByStore ? 'call.cancelled' : 'call.settled';
  const endings = own.filter(({ event }) => event.startsWith('call.')).map(({ event }) => event);
  expect(endings, 'endings in the audit').toEqual(call.state === 'settled' ? [ending] : []);
}

/** Checks that each question is recorded once and has at most one decision, in the store and in the audit. */
async function expectSameApprovals(call: ModelCall, real: Real, audit: readonly AuditEntry[]): Promise<void> {
  for (const { id, state, votes } of call.approvals) {
    const events = audit.filter((entry) => entry.approval === id && entry.event.startsWith('approval.'));
    const ending = { pending: [], allowed: ['decided'], denied: ['decided'], cancelled: ['cancelled'] }[state];
    const counted = votes.slice(0, state === 'allowed' || state === 'denied' ? -1 : undefined).map(() => 'voted');
    const expected = ['requested', ...counted, ...ending].map((event) => `approval.${event}`);
    expect(events.map(({ event }) => event)).toEqual(expected);
    const approval = await real.handles[0].readApproval(id as ApprovalId);
    expect(approval).toMatchObject({ state, votes: votes.map(([, decision]) => ({ decision })) });
  }
}

export async function expectSameRecord(call: ModelCall, real: Real): Promise<void> {
  const record = await recordOf(real.handles[1], call.callId as CallId);
  expect(visibleStates(call)).toContain(record.state);
  expect({ starts: record.starts, waiters: record.waiters }).toEqual({
    starts: call.starts,
    waiters: call.waiters.length,
  });
  if (call.state !== 'settled') {
    expect(record.outcome).toBeUndefined();
    expect(record.cancelRequested).toBe(call.cancelRequested);
    return;
  }
  expect(call.outcomes).toContain(labelOf(record.outcome!));
}
