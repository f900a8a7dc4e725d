import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { laneOfScopedId, type CallerId, type CallId, type WorkerId } from '../../src/domain/identity/ids.ts';
import { isAboutCall, type AboutCall } from '../../src/domain/audit/audit-record.ts';
import type { AuditEntry } from '../../src/domain/ports/audit-store.ts';
import type { Delivery, LaneState, OwnedCall, ReplyItem } from '../../src/domain/ports/call-requests.ts';
import type { CallRecord } from '../../src/domain/call/call.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newWorkerId } from '../../src/domain/identity/new-id.ts';
import { decode } from '../../src/base/message-pack.ts';
import { eventually } from '../support/process.ts';
import { POOL } from './fixtures.ts';

/** Matches any Uint8Array or Buffer with these bytes; for use inside `toEqual`. */
export function sameBytes(expected: Uint8Array): Uint8Array {
  const matcher = {
    asymmetricMatch: (actual: unknown) => actual instanceof Uint8Array && Buffer.compare(actual, expected) === 0,
    toString: () => `${expected.length} bytes ${Buffer.from(expected).toString('hex').slice(0, 80)}`,
    toAsymmetricMatcher: () => matcher.toString(),
  };
  // Typed as bytes, so that the matcher can be used where the compared type has bytes.
  return matcher as unknown as Uint8Array;
}

/** Matches these bytes followed by how the call ended. The store appends the ending where only the store knows it. */
export function withEnding(expected: Uint8Array, ending: object): Uint8Array {
  const matcher = {
    asymmetricMatch: (actual: unknown) =>
      actual instanceof Uint8Array &&
      Buffer.compare(actual.subarray(0, expected.length), expected) === 0 &&
      isDeepStrictEqual(decode(actual.subarray(expected.length)), ending),
    toString: () => `${expected.length} bytes and ${JSON.stringify(ending)}`,
    toAsymmetricMatcher: () => matcher.toString(),
  };
  return matcher as unknown as Uint8Array;
}

export async function recordOf(store: Store, callId: CallId): Promise<CallRecord> {
  const record = await store.readCall(callId);
  if (record === undefined) throw new Error(`Expected a record of call ${callId}, there is none`);
  return record;
}

/** Waits until the store's clock has passed this time. Only the store's clock counts; this process just polls it. */
export async function storeTimeAfter(store: Store, time: number): Promise<void> {
  await eventually(async () => (await store.now()) > time, { everyMs: 2, what: `store time ${time}` });
}

export async function storeTimePasses(store: Store, ms: number): Promise<void> {
  await storeTimeAfter(store, (await store.now()) + ms);
}

/** Lets another worker take over everything that the pool's workers hold, as if they had all died. */
export async function reclaimAll(
  store: Store,
  lane: number,
  { pool = POOL, workerId = newWorkerId() }: { pool?: string; workerId?: WorkerId } = {},
): Promise<readonly Delivery[]> {
  await storeTimePasses(store, 2);
  return (await store.reclaimCalls({ lane, pool, workerId, limit: 1_000, leaseMs: 1 })).deliveries;
}

/** Takes over one call in the same way; the call has to be among those taken over. */
export async function reclaimOne(store: Store, lost: OwnedCall): Promise<Delivery> {
  const deliveries = await reclaimAll(store, laneOfScopedId(lost.callId), { pool: lost.pool });
  const found = deliveries.filter((delivery) => delivery.callId === lost.callId);
  expect(found, `deliveries of ${lost.callId} after its lease was lost`).toHaveLength(1);
  return found[0]!;
}

/** Takes and acknowledges replies until none are left. */
export async function drainReplies(store: Store, lane: number, callerId: CallerId): Promise<ReplyItem[]> {
  const items: ReplyItem[] = [];
  let acknowledged: string[] = [];
  for (;;) {
    const replies = await store.takeReplies({ lane, callerId, acknowledged, waitMs: 0 });
    if (replies.length === 0) return items;
    items.push(...replies.flatMap((reply) => reply.items));
    acknowledged = replies.map((reply) => reply.replyId);
  }
}

export async function laneState(store: Store, lane: number): Promise<LaneState> {
  return (await store.recheckSessions({ lane, sessions: [] })).lane;
}

/** Reads the whole audit of a lane and checks that its sequence has no gap. */
export async function readWholeAudit(store: Store, lane: number): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (;;) {
    const page = await store.readAudit({ lane, fromSequence: entries.length + 1, limit: 200 });
    if (page.length === 0) break;
    entries.push(...page);
  }
  expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
  return entries;
}

/** The records of a lane that are about calls, without those about sessions and administration. */
export async function readCallAudit(store: Store, lane: number): Promise<AboutCall<AuditEntry>[]> {
  return (await readWholeAudit(store, lane)).filter(isAboutCall);
}

export async function auditOf(store: Store, callId: CallId): Promise<AuditEntry[]> {
  const entries = await readWholeAudit(store, laneOfScopedId(callId));
  return entries.filter((entry) => entry.callId === callId);
}

export async function auditEvents(store: Store, callId: CallId): Promise<string[]> {
  return (await auditOf(store, callId)).map((entry) => entry.event);
}

const TERMINAL_EVENTS: readonly string[] = ['call.settled', 'call.cancelled', 'call.expired'];

export async function terminalEvents(store: Store, callId: CallId): Promise<string[]> {
  return (await auditEvents(store, callId)).filter((event) => TERMINAL_EVENTS.includes(event));
}

/** Asserts that a refused accept left nothing behind: no record, nothing to claim. */
export async function expectNothingWritten(store: Store, callId: CallId, lane: number): Promise<void> {
  expect(await store.readCall(callId), 'record of a refused call').toBeUndefined();
  const claim = { lane, pool: POOL, workerId: newWorkerId(), limit: 1_000, waitMs: 0 };
  const { deliveries } = await store.claimCalls(claim);
  expect(deliveries.map((delivery) => delivery.callId)).not.toContain(callId);
}
