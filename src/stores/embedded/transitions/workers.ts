import type { WorkerId } from '../../../domain/ids.ts';
import type { WorkerEntry } from '../../../ports/fleet-registry.ts';
import type { Transaction } from '../transaction.ts';

export function registerWorker(
  { database, now }: Transaction,
  { worker, ttlMs }: { worker: WorkerEntry; ttlMs: number },
): void {
  database.run(
    'INSERT OR REPLACE INTO worker VALUES (?, ?, ?)',
    worker.workerId,
    JSON.stringify(worker),
    now + Math.ceil(ttlMs),
  );
}

export function deregisterWorker({ database }: Transaction, workerId: WorkerId): void {
  database.run('DELETE FROM worker WHERE workerId = ?', workerId);
}

export function listWorkers({ database, now }: Transaction): WorkerEntry[] {
  const rows = database.all<{ entry: string }>('SELECT entry FROM worker WHERE expiresAt > ? ORDER BY workerId', now);
  return rows.map(({ entry }) => JSON.parse(entry) as WorkerEntry);
}
