import type { WorkerId } from '../../../domain/identity/ids.ts';
import type { ClaimAnswer, ClaimRequest, Delivery, ReclaimRequest } from '../../../domain/ports/call-requests.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { runStateOf } from './attempts.ts';
import { findBody, type BodyRow } from './call-bytes.ts';
import { callIdOf, changeCall, decodeWaiters, fenceOf, readCalls } from './call-row.ts';
import { laneState } from './lane-state.ts';
import { readResume } from './requeue-call.ts';

/** Delivers calls in queue order. Does not wait; the store thread runs it again when the pool's queue got an entry. */
export function claimCalls(transaction: Transaction, { pool, workerId, limit }: ClaimRequest): ClaimAnswer {
  const found = transaction.database.all<{ seq: number }>(
    'SELECT seq FROM call WHERE pool = ? AND entryId IS NOT NULL AND owner IS NULL ORDER BY entryId LIMIT ?',
    pool,
    limit,
  );
  return {
    deliveries: deliverCalls(transaction, readCalls(transaction, found), workerId),
    lane: laneState(transaction),
  };
}

export function reclaimCalls(transaction: Transaction, request: ReclaimRequest): ClaimAnswer {
  const { now, file } = transaction;
  // While no process served the store, no worker could renew its leases. So no lease runs out before `leaseMs` have passed since the
  // opening; otherwise workers that are alive would lose their calls.
  if (now - file.openedAt < request.leaseMs) return { deliveries: [], lane: laneState(transaction) };
  const found = transaction.database.all<{ seq: number }>(
    `SELECT seq FROM call
     WHERE pool = ? AND entryId IS NOT NULL AND owner IS NOT NULL AND renewedAt <= ? ORDER BY renewedAt LIMIT ?`,
    request.pool,
    now - request.leaseMs,
    request.limit,
  );
  const calls = readCalls(transaction, found);
  return { deliveries: deliverCalls(transaction, calls, request.workerId), lane: laneState(transaction) };
}

/** Max bytes of one answer, unless a single call is larger. */
const MAX_DELIVERED_BYTES = 8 * 1024 * 1024;

/** Delivers the calls to a worker. Each gets one more delivery, and a lease that starts now. */
function deliverCalls(transaction: Transaction, calls: readonly CallRow[], workerId: WorkerId): Delivery[] {
  const deliveries: Delivery[] = [];
  let bytes = 0;
  for (const row of calls) {
    bytes += row.bytes;
    if (bytes > MAX_DELIVERED_BYTES && deliveries.length > 0) break;
    const body = bodyOf(transaction, row);
    // The body was deleted by hand, so there is nothing to run. The next reap ends the call and says so in its outcome.
    if (body === undefined) changeCall(transaction, row, 'deadline = min(deadline, ?)', transaction.now);
    else deliveries.push(deliverCall(transaction, row, body, workerId));
  }
  return deliveries;
}

/** Returns the body. At the first delivery it is still in memory, as it was accepted. */
function bodyOf({ database }: Transaction, row: CallRow): BodyRow | undefined {
  const { envelope } = row;
  if (envelope === undefined || envelope === null) return findBody(database, row.seq);
  row.envelope = null;
  return { envelope, resumedWith: null };
}

function deliverCall(transaction: Transaction, row: CallRow, body: BodyRow, workerId: WorkerId): Delivery {
  const { database, now } = transaction;
  database.run(
    'UPDATE call SET owner = ?, renewedAt = ?, deliveries = deliveries + 1 WHERE seq = ?',
    workerId,
    now,
    row.seq,
  );
  row.owner = workerId;
  row.deliveries += 1;
  const fence = fenceOf(row);
  return {
    callId: callIdOf(row),
    pool: row.pool,
    workerId,
    entryId: String(row.entryId),
    fence,
    lane: 0,
    envelope: body.envelope,
    bodyDigest: row.bodyDigest,
    tool: row.tool,
    identity: row.identity,
    session: row.session,
    run: row.run,
    epoch: String(row.epoch),
    sessionExpiresAt: row.sessionExpiresAt,
    acceptedAt: row.acceptedAt,
    deadline: row.deadline,
    ...runStateOf(transaction, row),
    watched: true,
    ...(fence > 1 ? { recovered: recoveredFrom(row) } : {}),
    handedBack: row.handedBack,
    lostDeliveries: row.deliveries - 1,
    eventsWanted: decodeWaiters(row.waiters).some((waiter) => waiter.events),
    ...(body.resumedWith === null ? {} : { resumedWith: readResume(body.resumedWith, fence) }),
  };
}

function recoveredFrom(row: CallRow): NonNullable<Delivery['recovered']> {
  return {
    starts: row.starts,
    wasRunning: row.state === 'running',
    ...(row.effect === null ? {} : { effect: row.effect }),
    cancelRequested: row.cancelRequested === 1,
  };
}
