import type { CallRow } from '../rows.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { changeCall } from './call-row.ts';

type Placed = Pick<CallRow, 'seq' | 'keyId' | 'generation' | 'pool'>;

/**
 * Names the slot in which a call takes a place; its number of places is the window. Serial calls of one subject and tool have a slot with
 * one place. It ensures that they start one at a time (invariant I11), so a serial call holds its place until it is settled.
 */
export function slotName(call: { serial: boolean; scope: string; tool: string; pool: string }): string {
  return call.serial ? `serial ${call.scope} ${call.tool}` : `${call.pool} ${call.scope}`;
}

/** Whether a new call may enter the queue at once. While calls wait in the backlog it may not, even if a place has just become free. */
export function hasRoom({ lane }: Transaction, slot: string, window: number): boolean {
  const { standing, backlog } = lane.slot(slot);
  return backlog === 0 && standing < window;
}

/** Puts a call at the end of its pool's queue. */
export function enterQueue(transaction: Transaction, call: Placed): void {
  changeCall(transaction, call, 'entryId = ?, owner = NULL, holdsSlot = 1', transaction.lane.nextEntryId());
  transaction.wake(poolTopic(call.pool));
}

/** To be called after a call left the queue or the backlog and its row was changed. The next calls take the free places. */
export function leaveSlot(
  transaction: Transaction,
  call: Pick<CallRow, 'slot' | 'holdsSlot' | 'state' | 'entryId'>,
): void {
  const { lane } = transaction;
  if (call.slot === null) return;
  if (call.holdsSlot === 1) lane.changeSlot(call.slot, { standing: -1 });
  else if (call.state === 'queued' && call.entryId === null) lane.changeSlot(call.slot, { backlog: -1 });
  promoteBacklog(transaction, call.slot);
}

function promoteBacklog(transaction: Transaction, slot: string): void {
  const { database, lane } = transaction;
  while (lane.slot(slot).backlog > 0) {
    const next = database.get<Placed & { slotWindow: number }>(
      `SELECT seq, keyId, generation, pool, slotWindow FROM call WHERE slot = ? AND state = 'queued' AND entryId IS NULL ORDER BY seq LIMIT 1`,
      slot,
    );
    if (next === undefined || lane.slot(slot).standing >= next.slotWindow) return;
    lane.changeSlot(slot, { standing: 1, backlog: -1 });
    enterQueue(transaction, next);
  }
}
