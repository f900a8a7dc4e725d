import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from './domain/policy/policy.ts';
import type { SessionEnding } from './domain/identity/session.ts';
import type { RenewAnswer } from './domain/ports/call-requests.ts';
import type { Plane } from './domain/ports/plane.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleDelivered,
  sampleDelivery,
  sampleLane,
  sampleServedTool,
  SILENT_LOG,
} from '../test/support/sample-call.ts';
import { decodeEnvelope } from './domain/call/envelope.ts';
import { StartPermit } from './start-permit.ts';

const TRUST_MS = 250;
const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };

interface Found {
  readonly lease?: RenewAnswer;
  readonly ending?: SessionEnding;
  readonly policy?: Policy;
  /** How long each look at the store takes. */
  readonly tookMs?: readonly number[];
}

function permitOf({ lease = 'renewed', ending, policy, tookMs = [] }: Found) {
  const waits = [...tookMs];
  let looks = 0;
  const plane = {
    store: partialStore({
      recheckSessions: async () => {
        looks += 1;
        vi.advanceTimersByTime(waits.shift() ?? 0);
        return { lane: sampleLane({ policyVersion: policy === undefined ? 1 : 2 }), endings: [ending] };
      },
      renewCalls: async () => [lease],
      findGrants: async () => [],
    }),
    policies: { atLeast: (version: number) => ({ version, policy: policy ?? OPEN }) },
    settings: { retentionMs: 1, trustSnapshotMs: TRUST_MS },
    log: SILENT_LOG,
  } as unknown as Plane;
  const delivery = sampleDelivery();
  const decoded = decodeEnvelope(delivery.envelope);
  if (decoded.kind !== 'envelope') throw new Error(decoded.kind);
  const admitted = {
    ...sampleDelivered(delivery),
    kind: 'admitted' as const,
    policy: OPEN,
    policyVersion: 1,
    now: 1000,
    checkedAt: performance.now(),
  };
  const call = {
    kind: 'identified' as const,
    admitted,
    envelope: decoded.envelope,
    identity: SAMPLE_IDENTITY,
    tool: sampleServedTool({ effect: 'unsafe' }),
    arguments: {},
    canonical: '{}',
    permission: '*',
  };
  const permit = new StartPermit({ kind: 'allowed', call, facts: {} }, plane);
  return { permit, looks: () => looks };
}

describe('a permit to start', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('is valid without a trip for as long as a snapshot is trusted, and no longer', async () => {
    const { permit, looks } = permitOf({});
    vi.advanceTimersByTime(TRUST_MS);
    expect(permit.stopFor()).toBeUndefined();
    expect(looks()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await permit.stopFor()).toBeUndefined();
    expect(looks()).toBe(1);
    expect(permit.stopFor()).toBeUndefined();
  });

  it.each<[string, Found, object]>([
    ['the call was cancelled', { lease: 'cancel' }, { outcome: { kind: 'cancelled', executed: 'no' } }],
    ['the lease is lost', { lease: 'fenced' }, { kind: 'lost' }],
    ['the session ended', { ending: 'revoked' }, { outcome: { error: { code: 'SESSION_ENDED' } } }],
    [
      'loop detection ended its run',
      { ending: 'run-ended' },
      { outcome: { kind: 'blocked', error: { code: 'RUN_ENDED_BY_LOOP' } } },
    ],
    [
      'the policy pauses it',
      { policy: { ...OPEN, paused: { all: true } } },
      { outcome: { error: { code: 'PAUSED' } } },
    ],
    [
      'a rule denies it',
      { policy: { ...OPEN, rules: [{ id: 'no', verdict: 'deny' }] } },
      { outcome: { error: { code: 'RULE_DENIED' } } },
    ],
  ])('ends when %s', async (_why, found, ending) => {
    const { permit } = permitOf(found);
    vi.advanceTimersByTime(TRUST_MS + 1);
    expect(await permit.stopFor()).toMatchObject(ending);
  });

  it('asks no person after the start mark: the call ends as stale, and a repeat is asked about', async () => {
    const { permit } = permitOf({ policy: { ...OPEN, rules: [{ id: 'ask', verdict: 'ask' }] } });
    permit.marked();
    vi.advanceTimersByTime(TRUST_MS + 1);
    expect(await permit.stopFor()).toMatchObject({
      outcome: { kind: 'stale', executed: 'no', error: { code: 'VERDICT_STALE' } },
    });
  });

  it('asks again when an answer was too old on arrival, and trusts the next one for twice as long', async () => {
    const { permit, looks } = permitOf({ tookMs: [TRUST_MS + 1, TRUST_MS + 1] });
    vi.advanceTimersByTime(TRUST_MS + 1);
    expect(await permit.stopFor()).toBeUndefined();
    expect(looks()).toBe(2);
  });
});
