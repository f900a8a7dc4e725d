import { isPrivatePool, nestedPool } from '../../domain/identity/ids.ts';
import type { FleetReader } from '../../domain/ports/fleet-registry.ts';
import { asList, asText, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

/**
 * Deletes the queues of private pools whose process is gone. A queue becomes empty, and can be deleted, when the calls that the process
 * left there have ended at their deadline.
 */
export async function forgetDeadPools(context: RedisContext, fleet: FleetReader, idleMs: number): Promise<void> {
  const known = asList(await context.command('SMEMBERS', context.deployment.pools))
    .map(asText)
    .filter(isPrivatePool);
  if (known.length === 0) return;
  // A worker registers before it creates its queues. So a worker that is not listed has ended, or has been silent for long.
  const alive = new Set((await fleet.listWorkers()).flatMap(({ pool }) => [pool, nestedPool(pool)]));
  for (const pool of known) if (!alive.has(pool)) await forgetPool(context, pool, idleMs);
}

/**
 * Deletes the queues of a pool in all lanes. The pool stays listed while one of them could not be deleted, so that the next round finds it.
 */
export async function forgetPool(context: RedisContext, pool: string, idleMs: number): Promise<void> {
  let isForgotten = true;
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const stream = context.lane(lane).stream(pool);
    const answer = await context.fcall('forget_pool', { keys: { stream }, args: { idleMs } });
    isForgotten &&= wordOf(answer) === 'FORGOTTEN';
  }
  if (isForgotten) await context.command('SREM', context.deployment.pools, pool);
}
