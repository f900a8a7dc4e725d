import type { LaneUse } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

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
