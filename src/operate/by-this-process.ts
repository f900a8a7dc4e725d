import { hostname } from 'node:os';
import type { Administered } from '../domain/identity/actor.ts';

/** The actor and comment of administrative records about what a process does by itself. The actor is `process HOST.PID`. */
export function byThisProcess(comment: string): Administered {
  return { actor: { by: `process ${hostname()}.${process.pid}`, via: 'config' }, comment };
}
