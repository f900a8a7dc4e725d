import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOSED_POLICY } from '../../domain/policy/policy.ts';
import type { SessionEnding } from '../../domain/identity/session.ts';
import type { Delivery, LaneState, RecoveredCall, RenewAnswer } from '../../domain/ports/call-requests.ts';
import { partialStore, sampleDelivered, sampleDelivery, sampleLane } from '../../../test/support/sample-call.ts';
import { admit } from './admit.ts';

const TRUST_MS = 250;

interface Look {
  /** How long ago the lane's state was read. */
  readonly heldMs?: number;
  readonly lane?: Partial<LaneState>;
  /** What the store answers if it is asked again. Absent: the test expects that it is not asked. */
  readonly found?: {
    readonly ending?: SessionEnding;
    readonly lane?: Partial<LaneState>;
    readonly lease?: RenewAnswer;
  };
}

async function admitOf(delivery: Delivery, { heldMs = 0, lane = {}, found }: Look = {}) {
  const asked: number[] = [];
  const looks: unknown[] = [];
  const store = partialStore(
    found === undefined
      ? {}
      : {
          recheckSessions: async (request) => {
            looks.push(request);
            return { lane: sampleLane(found.lane), endings: [found.ending] };
          },
          ...(found.lease === undefined ? {} : { renewCalls: async () => [found.lease!] }),
        },
  );
  const policies = {
    atLeast: async (version: number) => {
      asked.push(version);
      return { version, policy: CLOSED_POLICY };
    },
  };
  const arrivedAt = performance.now() - heldMs;
  const admitted = await admit(sampleDelivered(delivery, { arrivedAt, lane: sampleLane(lane) }), {
    store,
    policies,
    settings: { retentionMs: 1, trustSnapshotMs: TRUST_MS },
  });
  return { admitted, asked, looks };
}

describe('admit', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('of a call held for a moment in a lane that did not move needs no trip to the store', async () => {
    const { admitted, asked } = await admitOf(sampleDelivery(), { heldMs: TRUST_MS, lane: { policyVersion: 7 } });
    expect(admitted).toMatchObject({ kind: 'admitted', policyVersion: 7, now: 1000 + TRUST_MS });
    expect(asked).toEqual([7]);
  });

  it.each([
    ['was held too long', { heldMs: TRUST_MS + 1 }, {}],
    ['comes from a lane that moved', { lane: { epoch: 'epoch-2' } }, {}],
    ['may have outlived its session', { heldMs: 100 }, { sessionExpiresAt: 1100 }],
  ] as const)('of a call that %s looks again and ends with a revoked session', async (_why, look, delivery) => {
    const call = sampleDelivery(delivery);
    const { admitted, looks } = await admitOf(call, { ...look, found: { ending: 'revoked' } });
    expect(admitted).toMatchObject({
      kind: 'ended',
      outcome: { kind: 'denied', executed: 'no', error: { code: 'SESSION_ENDED', facts: { ending: 'revoked' } } },
    });
    expect(looks).toEqual([{ lane: 0, sessions: [{ session: call.session, run: call.run }] }]);
  });

  it.each([
    ['fenced', { kind: 'lost' }],
    ['cancel', { kind: 'ended', outcome: { kind: 'cancelled', executed: 'no' } }],
    ['renewed', { kind: 'admitted' }],
  ] as const)('checks the lease of a call that was held while another was cancelled: %s', async (lease, expected) => {
    const found = { lane: { cancelSequence: 'another' }, lease };
    const { admitted } = await admitOf(sampleDelivery(), { heldMs: TRUST_MS + 1, found });
    expect(admitted).toMatchObject(expected);
  });

  it('takes time and policy from the second look', async () => {
    const found = { lane: { epoch: 'epoch-2', policyVersion: 9, now: 4000 } };
    const { admitted, asked } = await admitOf(sampleDelivery(), { heldMs: 3000, found });
    expect(admitted).toMatchObject({ kind: 'admitted', policyVersion: 9, now: 4000 });
    expect(asked).toEqual([9]);
  });

  it('of a call past its deadline ends it, also when only the time it was held for made it late', async () => {
    const expired = { kind: 'ended', outcome: { kind: 'expired', executed: 'no' } };
    const { admitted } = await admitOf(sampleDelivery({ deadline: 1200 }), { heldMs: 200 });
    expect(admitted).toMatchObject(expired);
    const late = await admitOf(sampleDelivery({ deadline: 3999 }), { heldMs: 3000, found: { lane: { now: 4000 } } });
    expect(late.admitted).toMatchObject(expired);
  });

  const RECOVERED: RecoveredCall = { starts: 0, wasRunning: false, cancelRequested: false };
  it.each([
    ['an unsafe tool was running', { starts: 1, wasRunning: true, effect: 'unsafe' }, 'indeterminate', 'unknown'],
    ['was cancelled before any start', { cancelRequested: true }, 'cancelled', 'no'],
    ['was cancelled after a start', { starts: 1, effect: 'read', cancelRequested: true }, 'cancelled', 'unknown'],
  ] as const)('of a recovered call that %s ends it', async (_what, recovered, kind, executed) => {
    const delivery = sampleDelivery({ fence: 2, recovered: { ...RECOVERED, ...recovered } });
    expect((await admitOf(delivery)).admitted).toMatchObject({ kind: 'ended', outcome: { kind, executed } });
  });

  it('of a recovered call of a tool that may run again goes on', async () => {
    const recovered: RecoveredCall = { ...RECOVERED, starts: 1, wasRunning: true, effect: 'idempotent' };
    expect((await admitOf(sampleDelivery({ fence: 2, recovered }))).admitted.kind).toBe('admitted');
  });
});
