import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { openJournal } from './journal.ts';

/** Where a worker stops itself: while the hook of a call runs, or right after it has sent the start mark of a call. */
export type TrapPlace = 'hook' | 'start';

/** A worker writes this in the moment in which it stops itself. */
export interface TrapEntry {
  /** The file that armed it. */
  readonly trap: string;
  readonly pid: number;
  readonly callId: string;
  readonly place: TrapPlace;
}

/**
 * The nemesis arms the trap for the next fitting call of a worker. The returned function disarms it, and returns false if the worker was
 * faster: then the worker has stopped, or will at once.
 */
export function armTrap(file: string, place: TrapPlace): () => boolean {
  writeFileSync(file, place);
  return () => remove(file);
}

/** Removing a file succeeds once, so that either the worker or the nemesis has the trap. */
function remove(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Calls whose permission is about to be withdrawn. The hook sees their arguments; whoever sends the start mark does not. */
export const trappable = new Set<string>();

/**
 * Stops this process if the trap is armed for this place. It stops behind the current turn of the event loop. By then the request is on
 * the wire. No call is between its last look at the store and the first line of its tool either, because no turn ends there. So
 * a stop by this trap never falls into the gap that docs/failure.md names.
 */
export function springTrap(place: TrapPlace, callId: string): void {
  const file = process.env['CHAOS_TRAP']!;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== place || !remove(file)) return;
  setImmediate(() => {
    openJournal<TrapEntry>(process.env['CHAOS_TRAPPED']!)({ trap: file, pid: process.pid, callId, place });
    process.kill(process.pid, 'SIGSTOP');
  });
}
