import type { ResumeRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { changeCall, findCall } from './call-row.ts';
import { enterQueue, hasRoom } from './queue.ts';
import { expiryOf, findSession, markSeen, sessionEnding } from './session-row.ts';

export function resumeCall(transaction: Transaction, request: ResumeRequest): 'resumed' | 'not-parked' {
  const { database, lane, now } = transaction;
  const call = findCall(transaction, request.callId);
  if (call?.state !== 'parked') return 'not-parked';
  const session = findSession(transaction, call.session);
  const alive = session !== undefined && sessionEnding(transaction, session, call.run) === undefined;
  // The idle expiry stood still while the call was parked, so it counts from here. The epoch stays that of the accept.
  if (alive) markSeen(transaction, session);
  changeCall(
    transaction,
    call,
    `state = 'queued', deadline = ?, base = base + 1, sessionExpiresAt = coalesce(?, sessionExpiresAt)`,
    now + Math.ceil(request.deadlineMs),
    alive ? expiryOf(session, now) : null,
  );
  database.run('UPDATE body SET resumedWith = ? WHERE seq = ?', request.with ?? null, call.seq);
  if (call.slot === null || call.holdsSlot === 1) {
    enterQueue(transaction, call);
  } else if (hasRoom(transaction, call.slot, call.slotWindow)) {
    lane.changeSlot(call.slot, { standing: 1 });
    enterQueue(transaction, call);
  } else {
    lane.changeSlot(call.slot, { backlog: 1 });
  }
  return 'resumed';
}
