import type { QueueState } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

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
