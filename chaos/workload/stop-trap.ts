import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { openJournal } from './journal.ts';

/** Where a worker stops itself: while the hook of a call runs, or right after it has sent the start mark of a call. */
export type TrapPlace = 'hook' | 'start';

/** The journal entry that a worker writes at the moment when it stops itself. */
export interface TrapEntry {
  /** The file that armed the trap. */
  readonly trap: string;
  readonly pid: number;
  readonly callId: string;
  readonly place: TrapPlace;
}

/**
 * Arms the trap for the next suitable call of a worker. The returned function disarms it. It returns false if the worker was faster: then
 * the worker has stopped, or will stop at once.
 */
export function armTrap(file: string, place: TrapPlace): () => boolean {
  writeFileSync(file, place);
  return () => remove(file);
}

/** Removing a file succeeds only once, so either the worker or the nemesis gets the trap. */
function remove(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

/**
 * Calls whose permission is about to be withdrawn. The hook sees their arguments and adds them; the code that sends the start mark does
 * not see the arguments.
 */
export const trappable = new Set<string>();

/**
 * Stops this process if the trap is armed for this place. It stops after the current turn of the event loop. By then the request is on the
 * wire. No call is between its last check at the store and the first line of its tool, because no turn ends there. So a stop by this trap
 * never falls into the gap that docs/failure.md describes.
 */
export function springTrap(place: TrapPlace, callId: string): void {
  const file = process.env['CHAOS_TRAP']!;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== place || !remove(file)) return;
  setImmediate(() => {
    openJournal<TrapEntry>(process.env['CHAOS_TRAPPED']!)({ trap: file, pid: process.pid, callId, place });
    process.kill(process.pid, 'SIGSTOP');
  });
}
