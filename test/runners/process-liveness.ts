import { readFileSync } from 'node:fs';

/** Not by signal 0: that also finds zombies, whose new parent may take its time. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
