import { signal } from '@preact/signals';
import { now } from '../../clock.ts';
import type { Queue } from './fleet-types.ts';

export interface QueueSample {
  readonly at: number;
  /** The number of waiting calls by pool. */
  readonly queued: Readonly<Record<string, number>>;
}

const MAX = 720;

/** The queue lengths that this console has read since it was opened. The gateway keeps no history of its queues. */
export const queueSamples = signal<readonly QueueSample[]>([]);

export function noteQueues(queues: readonly Queue[]): void {
  queueSamples.value = [...queueSamples.peek(), { at: now.peek(), queued: sumByPool(queues, 'queued') }].slice(-MAX);
}

/** Adds up the queues of each pool, because a pool has one queue per lane. */
export function sumByPool(queues: readonly Queue[], of: 'queued' | 'leased' | 'backlog'): Record<string, number> {
  const sums: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const queue of queues) sums[queue.pool] = (sums[queue.pool] ?? 0) + (queue[of] ?? 0);
  return sums;
}
