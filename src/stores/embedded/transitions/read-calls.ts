import type { CallRecord } from '../../../domain/call/call.ts';
import type { CallId, WorkerId } from '../../../domain/identity/ids.ts';
import type { Identity } from '../../../domain/identity/session.ts';
import type { ListCallsRequest } from '../../../domain/ports/call-requests.ts';
import type { ListOwnCallsRequest } from '../../../domain/ports/outbound-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { findOutcome } from './call-bytes.ts';
import { CALL_COLUMNS, callIdOf, decodeWaiters, findCall } from './call-row.ts';

export function readCall(transaction: Transaction, callId: CallId): CallRecord | undefined {
  const call = findCall(transaction, callId);
  if (call === undefined) return undefined;
  const outcome = findOutcome(transaction.database, call.seq);
  return { ...toRecord(call), ...(outcome === undefined ? {} : { outcome }) };
}

function toRecord(call: CallRow): CallRecord {
  return {
    callId: callIdOf(call),
    state: call.state,
    tool: call.tool,
    pool: call.pool,
    bodyDigest: call.bodyDigest,
    session: call.session,
    run: call.run,
    identity: JSON.parse(call.identity) as Identity,
    acceptedAt: call.acceptedAt,
    deadline: call.deadline,
    ...(call.settledAt === null ? {} : { settledAt: call.settledAt }),
    starts: call.starts,
    ...(call.effect === null ? {} : { effect: call.effect }),
    cancelRequested: call.cancelRequested === 1,
    waiters: decodeWaiters(call.waiters).length,
    ...(call.resolution === null ? {} : { resolution: call.resolution }),
    ...(call.approval === null ? {} : { approval: call.approval }),
    ...(call.grantId === null ? {} : { grant: call.grantId }),
  };
}

export function listCalls({ database }: Transaction, { limit }: ListCallsRequest): CallRecord[] {
  const rows = database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call INDEXED BY callDeadline WHERE state <> 'settled' ORDER BY deadline LIMIT ?`,
    limit,
  );
  return rows.map(toRecord);
}

export function findHolders(transaction: Transaction, callIds: readonly CallId[]): (WorkerId | undefined)[] {
  return callIds.map((callId) => {
    const call = findCall(transaction, callId);
    if (call === undefined || call.owner === null || call.state === 'settled') return undefined;
    return call.owner as WorkerId;
  });
}

/** Uses the index of ids: the ids of all calls of a subject have the same beginning. */
export function listOwnCalls({ database }: Transaction, { lane, scope, limit }: ListOwnCallsRequest): CallRecord[] {
  const rows = database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call WHERE keyId > ? AND keyId < ? AND state <> 'settled' ORDER BY deadline LIMIT ?`,
    `${lane}.${scope}.`,
    `${lane}.${scope}/`,
    limit,
  );
  return rows.map(toRecord);
}
