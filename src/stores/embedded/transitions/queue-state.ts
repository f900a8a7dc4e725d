import type { QueueState } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

/** Reports the pools with entries in their queue or with a worker. */
export function queueState({ database }: Transaction): QueueState[] {
  const rows = database.all<Omit<QueueState, 'lane'>>(
    `SELECT pool, sum(owner IS NULL) AS queued, sum(owner IS NOT NULL) AS leased
     FROM call INDEXED BY callDeadline WHERE state <> 'settled' AND entryId IS NOT NULL GROUP BY pool ORDER BY pool`,
  );
  return rows.map((row) => ({ lane: 0, ...row }));
}
