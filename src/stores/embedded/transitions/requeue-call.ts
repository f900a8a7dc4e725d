import type { ResumedWith } from '../../../domain/policy/approval.ts';
import type { ApprovalRow, CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { resumeWith } from './call-bytes.ts';
import { changeCall, fenceOf } from './call-row.ts';
import { enterQueue, hasRoom } from './queue.ts';
import { expiryOf, findSession } from './session-row.ts';

/**
 * The content of `body.resumedWith`: the approval, and the fence under which no worker can have run the call yet. The fence is null if the
 * call may already have run when the approval was requested.
 */
interface StoredResume {
  readonly approval: ResumedWith['approval'];
  readonly untouchedFence: number | null;
}

/**
 * Queues a parked call again, under a higher fence and within its subject's window. Epoch and session expiry are the current ones, because the
 * session was just checked.
 */
export function requeueCall(transaction: Transaction, call: CallRow, approval: ApprovalRow, minMs: number): void {
  const { database, lane, now } = transaction;
  const session = findSession(transaction, call.session);
  changeCall(
    transaction,
    call,
    `state = 'queued', deadline = ?, base = base + 1, epoch = ?, sessionExpiresAt = ?`,
    now + Math.max(approval.leftMs, Math.ceil(minMs)),
    lane.epoch,
    session === undefined ? call.sessionExpiresAt : expiryOf(session, now),
  );
  const mayHaveRun = approval.mayHaveRun === 1 || call.starts > 0;
  const stored: StoredResume = { approval: approval.id, untouchedFence: mayHaveRun ? null : fenceOf(call) + 2 };
  resumeWith(database, call.seq, Buffer.from(JSON.stringify(stored)));
  if (call.slot === null || call.holdsSlot === 1) {
    enterQueue(transaction, call);
  } else if (hasRoom(transaction, call.slot, call.slotWindow)) {
    lane.changeSlot(call.slot, { standing: 1 });
    enterQueue(transaction, call);
  } else {
    lane.changeSlot(call.slot, { backlog: 1 });
  }
}

export function readResume(stored: Uint8Array, fence: number): ResumedWith {
  const { approval, untouchedFence } = JSON.parse(Buffer.from(stored).toString()) as StoredResume;
  return { approval, untouched: untouchedFence === fence };
}
