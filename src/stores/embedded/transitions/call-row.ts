import type { CallState } from '../../../domain/call.ts';
import type { CallerId, CallId, RunId, SessionId, ToolId } from '../../../domain/ids.ts';
import type { Effect } from '../../../domain/tool.ts';
import type { OwnedCall, Waiter } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

export interface CallRow {
  readonly seq: number;
  readonly keyId: string;
  readonly generation: number;
  readonly state: CallState;
  readonly session: SessionId;
  readonly run: RunId;
  readonly tool: ToolId;
  readonly pool: string;
  readonly bodyDigest: string;
  readonly identity: string;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly bytes: number;
  readonly waiters: string;
  readonly serial: number;
  readonly slot: string | null;
  readonly slotWindow: number;
  readonly holdsSlot: number;
  readonly entryId: number | null;
  readonly owner: string | null;
  readonly base: number;
  readonly deliveries: number;
  readonly starts: number;
  readonly startFence: number | null;
  readonly effect: Effect | null;
  readonly cancelRequested: number;
  readonly settledAt: number | null;
  readonly releaseKey: number;
  readonly resolution: 'ran' | 'not-ran' | null;
  readonly abandonedFence: number | null;
}

export const CALL_COLUMNS = `seq, keyId, generation, state, session, run, tool, pool, bodyDigest, identity, acceptedAt, deadline,
  bytes, waiters, serial, slot, slotWindow, holdsSlot, entryId, owner, base, deliveries, starts, startFence, effect,
  cancelRequested, settledAt, releaseKey, resolution, abandonedFence`;

const CALL_BY_ID = `SELECT ${CALL_COLUMNS} FROM call WHERE keyId = ? AND generation = ?`;

/** `<key id>` is the first call under a key, `<key id>~n` the n-th after its predecessor released it. */
export function callIdOf(call: { readonly keyId: string; readonly generation: number }): CallId {
  return (call.generation === 1 ? call.keyId : `${call.keyId}~${call.generation}`) as CallId;
}

export function findCall({ database }: Transaction, callId: string): CallRow | undefined {
  const tilde = callId.indexOf('~');
  if (tilde < 0) return database.get<CallRow>(CALL_BY_ID, callId, 1);
  const generation = Number(callId.slice(tilde + 1));
  if (!Number.isSafeInteger(generation) || generation < 2) return undefined;
  return database.get<CallRow>(CALL_BY_ID, callId.slice(0, tilde), generation);
}

export function fenceOf(call: { readonly base: number; readonly deliveries: number }): number {
  return call.base + call.deliveries;
}

/** The lease is current: nobody else was given the call since, and it was not put back or ended. */
export function isOwned(call: CallRow, owned: OwnedCall): boolean {
  return (
    call.entryId !== null &&
    String(call.entryId) === owned.entryId &&
    call.owner === owned.workerId &&
    fenceOf(call) === owned.fence
  );
}

/** The call, if it is still this worker's. */
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
