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
 * Max calls per batch. Batches of this size are small enough that caller, server and worker work at the same time, each on a batch of its
 * own. With larger batches, two of them wait while the third works; with much smaller ones, the server's work per batch becomes noticeable.
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
    // The requests of a lane are of one or two kinds only (worker, pool, retention), so a search is cheaper than making a key for a map.
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

/**
 * Sends requests that arrive together to the store in one round trip. While a trip is under way, new requests collect for the next one. So batches
 * grow with the load, and a single request does not wait for others.
 */
export interface Batcher<Request, Answer> {
  add(request: Request): Promise<Answer>;
}

/** Three parallel lists instead of one list of triples: `requests` is passed to `send` as it is, without a copy. */
interface Batch<Request, Answer> {
  readonly requests: Request[];
  readonly resolves: ((answer: Answer) => void)[];
  readonly rejects: ((error: unknown) => void)[];
  bytes: number;
}

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxBatchBytes: number;
  /** Max trips at the same time. Two keep client and server busy at once. */
  readonly maxTrips: number;
}

/** Collects requests into trips of at most `maxBatch`. @internal */
export function createBatcher<Request, Answer>(
  send: (requests: Request[]) => Promise<readonly Answer[]>,
  options: BatcherOptions & { sizeOf: (request: Request) => number },
): Batcher<Request, Answer> {
  const gathered: Batch<Request, Answer>[] = [];
  let trips = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || trips >= options.maxTrips || gathered.length === 0) return;
    scheduled = true;
    setImmediate(departAll);
  }

  function departAll(): void {
    scheduled = false;
    while (gathered.length > 0 && trips < options.maxTrips) void depart(gathered.shift()!);
  }

  function batchFor(bytes: number): Batch<Request, Answer> {
    const last = gathered.at(-1);
    if (last !== undefined) {
      const fits = last.requests.length < options.maxBatch && last.bytes + bytes <= options.maxBatchBytes;
      if (fits) return last;
    }
    const batch: Batch<Request, Answer> = { requests: [], resolves: [], rejects: [], bytes: 0 };
    gathered.push(batch);
    return batch;
  }

  async function depart({ requests, resolves, rejects }: Batch<Request, Answer>): Promise<void> {
    trips += 1;
    try {
      const answers = await send(requests);
      for (let index = 0; index < resolves.length; index += 1) resolves[index]!(answers[index]!);
    } catch (error) {
      for (const reject of rejects) reject(error);
    } finally {
      trips -= 1;
      schedule();
    }
  }

  return {
    add: (request) =>
      new Promise((resolve, reject) => {
        const bytes = options.sizeOf(request);
        const batch = batchFor(bytes);
        batch.requests.push(request);
        batch.resolves.push(resolve);
        batch.rejects.push(reject);
        batch.bytes += bytes;
        schedule();
      }),
  };
}
