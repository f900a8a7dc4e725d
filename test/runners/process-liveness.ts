import { readFileSync } from 'node:fs';

/** Reads the state of the process, because signal 0 also finds zombies, which their new parent may not have collected yet. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
