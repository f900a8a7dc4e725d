/** One way to get a request to another process and its reply back. Both sides run in processes of their own. */
export interface Variant {
  /** What a reader of the numbers has to know. */
  readonly about: string;
  /** Serves until it is closed. Absent: the caller's process serves itself. */
  openWorker?(place: Place): Promise<WorkerSide>;
  openCaller(place: Place): Promise<CallerSide>;
}

/** Given to both sides. Each variant has a server of its own, so that nobody carries another one's data. */
export interface Place {
  readonly redisUrl: string;
  /** An empty folder of this variant. */
  readonly folder: string;
}

export interface WorkerSide {
  close(): Promise<void>;
}

export interface CallerSide {
  call(request: BenchRequest): Promise<BenchReply>;
  close(): Promise<void>;
}

export interface BenchRequest {
  readonly id: number;
  readonly tool: string;
  readonly text: string;
}

export interface BenchReply {
  readonly id: number;
  readonly text: string;
}

const REQUEST_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(6).slice(0, 250);

/** About 300 bytes as JSON. */
export function makeRequest(id: number): BenchRequest {
  return { id, tool: 'bench.echo', text: REQUEST_TEXT };
}

/** About 200 bytes as JSON. */
export function answerRequest({ id, text }: Pick<BenchRequest, 'id' | 'text'>): BenchReply {
  return { id, text: text.slice(0, 175) };
}

export function checkReply(request: BenchRequest, reply: BenchReply): void {
  if (reply.id !== request.id || reply.text.length !== 175) {
    throw new Error(`request ${request.id} got ${JSON.stringify(reply)}`);
  }
}
