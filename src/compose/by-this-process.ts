import { hostname } from 'node:os';
import type { Administered } from '../domain/actor.ts';

/** For administrative records of what a process does by itself: `process HOST.PID`. */
export function byThisProcess(comment: string): Administered {
  return { actor: { by: `process ${hostname()}.${process.pid}`, via: 'config' }, comment };
}
