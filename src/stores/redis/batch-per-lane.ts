import { createBatcher, type Batcher } from '../batcher.ts';

export interface LaneBatcher<Request, Answer> {
  add(lane: number, request: Request): Promise<Answer>;
}

/** What the calls of one batch have in common, in addition to their lane. */
export interface Common {
  readonly workerId?: string;
  readonly pool?: string;
  readonly retentionMs?: number;
}

/**
 * Max calls per batch. Small enough that caller, server and worker each have a batch to work on. With larger batches they take turns; with much
 * smaller ones the server's work per batch becomes noticeable.
 */
const MAX_AT_ONCE = 48;

/** Batches requests by lane, worker, pool and retention, because a function call works on only one of each. */
export function batchPerLane<Request extends Common, Answer>(
  send: (lane: number, requests: Request[]) => Promise<Answer[]>,
  sizeOf: (request: Request) => number,
): LaneBatcher<Request, Answer> {
  const kindsOfLanes: { common: Common; batcher: Batcher<Request, Answer> }[][] = [];

  function batcherFor(lane: number, request: Request): Batcher<Request, Answer> {
    const kinds = (kindsOfLanes[lane] ??= []);
    // There are one or two of them, so a search is cheaper than making a key for a map.
    for (const { common, batcher } of kinds) if (goTogether(common, request)) return batcher;
    const batcher = createBatcher<Request, Answer>((requests) => send(lane, requests), {
      maxBatch: MAX_AT_ONCE,
      maxBatchBytes: 1024 * 1024,
      maxTrips: 4,
      sizeOf,
    });
    const { workerId, pool, retentionMs } = request as Common;
    kinds.push({ common: { workerId, pool, retentionMs } as Common, batcher });
    return batcher;
  }

  return { add: (lane, request) => batcherFor(lane, request).add(request) };
}

function goTogether(a: Common, b: Common): boolean {
  return a.workerId === b.workerId && a.pool === b.pool && a.retentionMs === b.retentionMs;
}
