import { hostname } from 'node:os';
import type { Administered } from '../domain/identity/actor.ts';

/** The actor and comment for audit records of administrative changes that a process makes by itself. The actor is `process HOST.PID`. */
export function byThisProcess(comment: string): Administered {
  return { actor: { by: `process ${hostname()}.${process.pid}`, via: 'config' }, comment };
}
