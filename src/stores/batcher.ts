/**
 * Puts requests that arrive together into one trip to the store. While a trip is under way new requests gather for the next one,
 * so batches grow with the load and a single request waits for nobody.
 */
export interface Batcher<Request, Answer> {
  add(request: Request): Promise<Answer>;
}

interface Waiting<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxBatchBytes: number;
  /** Trips at the same time: two keep client and server busy at once. */
  readonly maxTrips: number;
}

export function createBatcher<Request, Answer>(
  send: (requests: Request[]) => Promise<readonly Answer[]>,
  options: BatcherOptions & { sizeOf: (request: Request) => number },
): Batcher<Request, Answer> {
  let waiting: Waiting<Request, Answer>[] = [];
  let trips = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || trips >= options.maxTrips || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (waiting.length > 0 && trips < options.maxTrips) void depart(takeBatch());
    });
  }

  function takeBatch(): Waiting<Request, Answer>[] {
    let bytes = 0;
    let count = 0;
    for (const { request } of waiting) {
      bytes += options.sizeOf(request);
      if (count > 0 && (count >= options.maxBatch || bytes > options.maxBatchBytes)) break;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  async function depart(batch: Waiting<Request, Answer>[]): Promise<void> {
    trips += 1;
    try {
      const answers = await send(batch.map(({ request }) => request));
      batch.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      trips -= 1;
      schedule();
    }
  }

  return {
    add: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        schedule();
      }),
  };
}
