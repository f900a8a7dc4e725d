import type { RunId, SessionId, ToolId, WorkerId } from '../../../domain/ids.ts';
import type { Effect } from '../../../domain/tool.ts';
import type { Delivery } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { callIdOf, decodeWaiters } from './call-row.ts';

/** One answer carries no more than this, unless a single call is larger. */
const MAX_DELIVERED_BYTES = 8 * 1024 * 1024;

export interface DeliverableRow {
  readonly seq: number;
  readonly keyId: string;
  readonly generation: number;
  readonly state: string;
  readonly session: string;
  readonly run: string;
  readonly tool: string;
  readonly pool: string;
  readonly bodyDigest: string;
  readonly identity: string;
  readonly epoch: number;
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly bytes: number;
  readonly waiters: string;
  readonly entryId: number;
  readonly base: number;
  readonly deliveries: number;
  readonly starts: number;
  readonly effect: Effect | null;
  readonly cancelRequested: number;
  readonly handedBack: number;
}

export const DELIVERABLE_COLUMNS = `seq, keyId, generation, state, session, run, tool, pool, bodyDigest, identity, epoch,
  sessionExpiresAt, acceptedAt, deadline, bytes, waiters, entryId, base, deliveries, starts, effect, cancelRequested, handedBack`;

/** Gives the calls to a worker: one more delivery each, and a lease from now on. */
export function deliverCalls(
  transaction: Transaction,
  rows: readonly DeliverableRow[],
  workerId: WorkerId,
): Delivery[] {
  const deliveries: Delivery[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += row.bytes;
    if (bytes > MAX_DELIVERED_BYTES && deliveries.length > 0) break;
    const body = findBody(transaction, row.seq);
    if (body === undefined) makeDue(transaction, row.seq);
    else deliveries.push(deliverCall(transaction, row, body, workerId));
  }
  return deliveries;
}

interface BodyRow {
  readonly envelope: Uint8Array;
  readonly resumedWith: Uint8Array | null;
}

export function findBody({ database }: Transaction, seq: number): BodyRow | undefined {
  return database.get<BodyRow>('SELECT envelope, resumedWith FROM body WHERE seq = ?', seq);
}

/** Somebody deleted the body by hand. There is nothing to run; the next reap ends the call and says so. */
function makeDue({ database, now }: Transaction, seq: number): void {
  database.run('UPDATE call SET deadline = min(deadline, ?) WHERE seq = ?', now, seq);
}

function deliverCall({ database, now }: Transaction, row: DeliverableRow, body: BodyRow, workerId: WorkerId): Delivery {
  database.run(
    'UPDATE call SET owner = ?, renewedAt = ?, deliveries = deliveries + 1 WHERE seq = ?',
    workerId,
    now,
    row.seq,
  );
  const fence = row.base + row.deliveries + 1;
  return {
    callId: callIdOf(row),
    pool: row.pool,
    workerId,
    entryId: String(row.entryId),
    fence,
    lane: 0,
    envelope: body.envelope,
    bodyDigest: row.bodyDigest,
    tool: row.tool as ToolId,
    identity: row.identity,
    session: row.session as SessionId,
    run: row.run as RunId,
    epoch: String(row.epoch),
    sessionExpiresAt: row.sessionExpiresAt,
    acceptedAt: row.acceptedAt,
    deadline: row.deadline,
    ...(fence > 1 ? { recovered: recoveredFrom(row) } : {}),
    handedBack: row.handedBack === 1,
    eventsWanted: decodeWaiters(row.waiters).some((waiter) => waiter.events),
    ...(body.resumedWith === null ? {} : { resumedWith: body.resumedWith }),
  };
}

function recoveredFrom(row: DeliverableRow): NonNullable<Delivery['recovered']> {
  return {
    starts: row.starts,
    wasRunning: row.state === 'running',
    ...(row.effect === null ? {} : { effect: row.effect }),
    cancelRequested: row.cancelRequested === 1,
  };
}
