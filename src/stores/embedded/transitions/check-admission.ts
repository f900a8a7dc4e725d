import { subjectShares, type OverloadedBy, type ShareFull } from '../../../domain/call/subject-share.ts';
import type { AcceptAnswer, AcceptRequest } from '../../../domain/ports/call-requests.ts';
import type { Transaction } from '../transaction.ts';

/**
 * The suggested wait before a retry, where calls that workers hold have to end first. A call often ends within this time; otherwise it is
 * unknown when it ends.
 */
export const SOON_MS = 1_000;

/** Limits are checked before anything is written; an accepted call is never dropped because of them. */
export function checkAdmission(
  transaction: Transaction,
  { admission, envelope }: AcceptRequest,
  place: { readonly slot: string | null; readonly inQueue: boolean },
  scope: string,
): AcceptAnswer | undefined {
  const { lane } = transaction;
  const size = envelope.byteLength;
  if (lane.liveCalls >= admission.liveCalls) return overloaded('calls', SOON_MS);
  if (lane.liveBytes + size > admission.liveBytes) {
    // Parked calls wait for a person, so it is unknown when there will be room.
    return overloaded('bytes of calls', lane.subjects.parkedBytes + size <= admission.liveBytes ? SOON_MS : undefined);
  }
  if (lane.retainedBytes >= admission.retainedBytes) return overloaded('bytes of outcomes', retainedMs(transaction));
  const full = checkShares(transaction, admission, size, scope);
  if (full !== undefined) return full;
  if (place.slot !== null && !place.inQueue && lane.slot(place.slot).backlog >= admission.subjectBacklog) {
    return overloaded('calls of this subject', SOON_MS);
  }
  return undefined;
}

function checkShares(
  { lane }: Transaction,
  admission: AcceptRequest['admission'],
  size: number,
  scope: string,
): ShareFull | undefined {
  const [use, limits] = [lane.subjects.of(scope), subjectShares(admission)];
  if (use.liveBytes + size > limits.liveBytes) {
    const room = use.parkedBytes + size <= limits.liveBytes ? { retryAfterMs: SOON_MS } : {};
    return { kind: 'share-full', share: 'liveBytes', limit: limits.liveBytes, ...room };
  }
  if (use.retainedBytes >= limits.retainedBytes) {
    return { kind: 'share-full', share: 'retainedBytes', limit: limits.retainedBytes };
  }
  return undefined;
}

/** Returns the time until the first kept outcome may be deleted. */
function retainedMs({ database, now }: Transaction): number | undefined {
  const first = database.get<{ keepUntil: number }>(
    `SELECT keepUntil FROM call WHERE state = 'settled' ORDER BY keepUntil LIMIT 1`,
  );
  return first === undefined ? undefined : Math.max(SOON_MS, first.keepUntil - now);
}

export function overloaded(what: OverloadedBy, retryAfterMs?: number): AcceptAnswer {
  return { kind: 'overloaded', what, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
