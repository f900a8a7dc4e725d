import type { CallerId, CallId } from '../../../domain/identity/ids.ts';
import type { OwnedCall, Waiter } from '../../../domain/ports/call-requests.ts';
import type { SqlValue } from '../../sqlite/database.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';

export const CALL_COLUMNS = `seq, keyId, generation, state, session, run, tool, pool, bodyDigest, identity, epoch,
  sessionExpiresAt, acceptedAt, deadline, bytes, waiters, serial, slot, slotWindow, holdsSlot, entryId, owner, base, deliveries, starts, startFence, effect,
  cancelRequested, handedBack, settledAt, releaseKey, resolution, abandonedFence, sequence, toolSequence, approval, grantId`;

const CALL_BY_ID = `SELECT ${CALL_COLUMNS} FROM call WHERE keyId = ? AND generation = ?`;
const CALL_BY_SEQ = `SELECT ${CALL_COLUMNS} FROM call WHERE seq = ?`;

/** `<key id>` is the first call under a key. `<key id>~n` is the n-th, made after its predecessor released the key. */
export function callIdOf(call: { readonly keyId: string; readonly generation: number }): CallId {
  return (call.generation === 1 ? call.keyId : `${call.keyId}~${call.generation}`) as CallId;
}

export function findCall({ database, rows }: Transaction, callId: string): CallRow | undefined {
  const cached = rows.callById(callId);
  if (cached !== undefined) return cached;
  const tilde = callId.indexOf('~');
  const generation = tilde < 0 ? 1 : Number(callId.slice(tilde + 1));
  if (tilde >= 0 && (!Number.isSafeInteger(generation) || generation < 2)) return undefined;
  const call = database.get<CallRow>(CALL_BY_ID, tilde < 0 ? callId : callId.slice(0, tilde), generation);
  if (call !== undefined) rows.keepCall(callIdOf(call), call);
  return call;
}

/** Reads calls that an index has found, in the order of the index. */
export function readCalls({ database, rows }: Transaction, found: readonly { readonly seq: number }[]): CallRow[] {
  const calls: CallRow[] = [];
  for (const { seq } of found) {
    const call = rows.callBySeq(seq) ?? database.get<CallRow>(CALL_BY_SEQ, seq);
    if (call === undefined) continue;
    rows.keepCall(callIdOf(call), call);
    calls.push(call);
  }
  return calls;
}

/**
 * Changes a call and drops its cached row. Used for every change except those of the hot path, which keep the cached row current themselves.
 * `change` sets columns.
 */
export function changeCall(
  { database, rows }: Transaction,
  call: Pick<CallRow, 'seq' | 'keyId' | 'generation'>,
  change: string,
  ...values: SqlValue[]
): void {
  rows.dropCall(call.seq, callIdOf(call));
  database.run(`UPDATE call SET ${change} WHERE seq = ?`, ...values, call.seq);
}

/**
 * SQL that ends a delivery in an orderly way. The fence (`base` + `deliveries`) stays the same. `deliveries` then counts only those that
 * were lost with their workers.
 */
export const RETURN_DELIVERY = 'base = base + 1, deliveries = deliveries - 1, owner = NULL';

export function fenceOf(call: { readonly base: number; readonly deliveries: number }): number {
  return call.base + call.deliveries;
}

/** True if the lease is current: no other worker got the call since, and the call was not put back or ended. */
export function isOwned(call: CallRow, owned: OwnedCall): boolean {
  return (
    call.entryId !== null &&
    String(call.entryId) === owned.entryId &&
    call.owner === owned.workerId &&
    fenceOf(call) === owned.fence
  );
}

/** Returns the call, if this worker still holds its lease. */
export function findOwnedCall(transaction: Transaction, owned: OwnedCall): CallRow | undefined {
  const call = findCall(transaction, owned.callId);
  return call !== undefined && isOwned(call, owned) ? call : undefined;
}

/** Waiters are stored as JSON: [caller id, correlation id, 1 if it wants events]. */
export function encodeWaiters(waiters: readonly Waiter[]): string {
  return JSON.stringify(waiters.map((waiter) => [waiter.callerId, waiter.correlationId, waiter.events ? 1 : 0]));
}

export function decodeWaiters(text: string): Waiter[] {
  return (JSON.parse(text) as [CallerId, string, number][]).map(([callerId, correlationId, events]) => ({
    callerId,
    correlationId,
    events: events === 1,
  }));
}
