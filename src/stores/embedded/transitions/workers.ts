import type { WorkerId } from '../../../domain/identity/ids.ts';
import type { WorkerBeat, WorkerEntry } from '../../../domain/ports/fleet-registry.ts';
import type { Transaction } from '../transaction.ts';

/**
 * What a worker serves has a row of its own next to the row that each beat writes: it can be large, and is written only when the worker
 * registers.
 */
const SERVES = '/serves';
/** The row of what a worker serves does not expire. It is deleted when its worker deregisters, or after the row of the beats is gone. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

export function registerWorker(
  { database, now }: Transaction,
  { worker, ttlMs }: { worker: WorkerEntry; ttlMs: number },
): void {
  const { modules, toolDigests, broken, ...beat } = worker;
  const write = 'INSERT OR REPLACE INTO worker VALUES (?, ?, ?)';
  database.run(write, worker.workerId, JSON.stringify(beat), now + Math.ceil(ttlMs));
  database.run(write, worker.workerId + SERVES, JSON.stringify({ modules, toolDigests, broken }), NEVER_MS);
  // Delete the rows that killed workers left.
  database.run(
    `DELETE FROM worker WHERE expiresAt = ? AND replace(workerId, ?, '') NOT IN (SELECT workerId FROM worker)`,
    NEVER_MS,
    SERVES,
  );
}

export function beatWorker(
  { database, now }: Transaction,
  { worker, ttlMs }: { worker: WorkerBeat; ttlMs: number },
): 'beaten' | 'unknown' {
  const changed = database.run(
    'UPDATE worker SET entry = ?, expiresAt = ? WHERE workerId = ?',
    JSON.stringify(worker),
    now + Math.ceil(ttlMs),
    worker.workerId,
  );
  return changed > 0 ? 'beaten' : 'unknown';
}

export function deregisterWorker({ database }: Transaction, workerId: WorkerId): void {
  database.run('DELETE FROM worker WHERE workerId IN (?, ?)', workerId, workerId + SERVES);
}

export function listWorkers({ database, now }: Transaction): WorkerEntry[] {
  const rows = database.all<{ beat: string; serves: string }>(
    `SELECT beating.entry AS beat, serving.entry AS serves FROM worker AS beating
       JOIN worker AS serving ON serving.workerId = beating.workerId || ?
       WHERE beating.expiresAt > ? ORDER BY beating.workerId`,
    SERVES,
    now,
  );
  return rows.map(
    ({ beat, serves }) => ({ ...(JSON.parse(beat) as WorkerBeat), ...JSON.parse(serves) }) as WorkerEntry,
  );
}
