import type { AcceptAnswer, AcceptRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

const SOON_MS = 1_000;
const LATER_MS = 60_000;

/** Bounds are checked before anything is written; nothing that was accepted is ever thrown out for them. */
export function checkAdmission(
  { lane }: Transaction,
  { admission, envelope }: AcceptRequest,
  place: { readonly slot: string | null; readonly inQueue: boolean },
): AcceptAnswer | undefined {
  if (lane.liveCalls >= admission.liveCalls) return overloaded('liveCalls', SOON_MS);
  if (lane.liveBytes + envelope.byteLength > admission.liveBytes) return overloaded('liveBytes', SOON_MS);
  // Only the end of a retention makes room here.
  if (lane.retainedBytes >= admission.retainedBytes) return overloaded('retainedBytes', LATER_MS);
  if (place.slot !== null && !place.inQueue && lane.slot(place.slot).backlog >= admission.subjectBacklog) {
    return overloaded('subjectBacklog', SOON_MS);
  }
  return undefined;
}

function overloaded(what: string, retryAfterMs: number): AcceptAnswer {
  return { kind: 'overloaded', what, retryAfterMs };
}
