import { planeError } from '../../../domain/errors/errors.ts';
import type { LaneState, LaneUse, QueueState } from '../../../domain/ports/call-requests.ts';
import type { Transaction } from '../transaction.ts';

export function laneState({ lane, now }: Transaction): LaneState {
  return {
    epoch: String(lane.epoch),
    policyVersion: lane.policyVersion,
    cancelSequence: String(lane.cancelSequence),
    now,
  };
}

/** `expected` is the incarnation that the client received when it opened the store. */
export function checkIncarnation({ database }: Transaction, expected: string): void {
  const found = database.get<{ id: string }>('SELECT id FROM incarnation')?.id ?? 'none';
  if (found !== expected)
    throw planeError('STORE_REPLACED', { expected: `incarnation ${expected}`, found: `incarnation ${found}` });
}

export function laneUse({ database, lane, now }: Transaction): LaneUse[] {
  const oldest = database.get<{ keepUntil: number }>(
    `SELECT keepUntil FROM call WHERE state = 'settled' AND keepUntil <= ? ORDER BY keepUntil LIMIT 1`,
    now,
  );
  const overdueMs = oldest === undefined ? 0 : now - oldest.keepUntil;
  const { pendingApprovals } = database.get<{ pendingApprovals: number }>(
    `SELECT count(*) AS pendingApprovals FROM approval WHERE state = 'pending'`,
  )!;
  const { liveBytes, retainedBytes } = lane;
  const fullestSubject = lane.subjects.fullest();
  return [{ lane: 0, liveBytes, retainedBytes, overdueMs, pendingApprovals, damaged: [], fullestSubject }];
}

/** Reports the pools with calls in their queue or in a backlog. */
export function queueState(
  { database }: Transaction,
  { backlog: withBacklog = false }: { readonly backlog?: boolean } = {},
): QueueState[] {
  const rows = database.all<Required<Omit<QueueState, 'lane'>>>(
    `SELECT pool, sum(entryId IS NOT NULL AND owner IS NULL) AS queued, sum(entryId IS NOT NULL AND owner IS NOT NULL) AS leased,
       sum(entryId IS NULL) AS backlog
     FROM call INDEXED BY callDeadline WHERE state <> 'settled' AND (entryId IS NOT NULL OR state = 'queued') GROUP BY pool ORDER BY pool`,
  );
  return rows.map(({ backlog, ...row }) => ({ lane: 0, ...row, ...(withBacklog ? { backlog } : {}) }));
}
