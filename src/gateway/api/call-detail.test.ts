import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../domain/call/call.ts';
import type { AuditRecordView } from './audit-schema.ts';
import { describeCall } from './call-detail.ts';

const CALL = { callId: '0.a.b', tool: 'desk.mail', agent: 'support', subject: 'lena', tenant: 'default' };
const ABOUT = { ...CALL, session: 's', run: 'r', bodyDigest: 'd' };
const requested = { ...ABOUT, event: 'approval.requested', at: 1005, approval: 'q' } as unknown as AuditRecordView;
const cancelled = {
  ...ABOUT,
  event: 'call.cancelled',
  at: 1100,
  outcome: 'cancelled',
  approval: 'q',
} as unknown as AuditRecordView;

function recordIn(state: string, more: object = {}): CallRecord {
  const { agent, subject, tenant } = CALL;
  return { ...ABOUT, identity: { agent, subject, tenant }, state, acceptedAt: 1000, ...more } as unknown as CallRecord;
}

describe('the description of a call', () => {
  it.each(['queued', 'running', 'parked'])(
    'has no time of settlement and no total while it is %s, although its question is in the trail',
    (state) => {
      const call = describeCall(recordIn(state), [requested], []);
      expect(call).toMatchObject({ state, acceptedAt: 1000 });
      expect(call).not.toHaveProperty('settledAt');
      expect(call).not.toHaveProperty('totalMs');
    },
  );

  it('takes the time of settlement from the record that ended the call, if the store no longer has the call', () => {
    expect(describeCall(undefined, [requested, cancelled], [])).toMatchObject({ state: 'settled', settledAt: 1100 });
    expect(describeCall(undefined, [requested], [])).not.toHaveProperty('settledAt');
  });

  it('takes the time of settlement from the store before the trail has the end', () => {
    const record = recordIn('settled', { settledAt: 1100 });
    expect(describeCall(record, [requested], [])).toMatchObject({ state: 'settled', settledAt: 1100, totalMs: 100 });
  });
});
