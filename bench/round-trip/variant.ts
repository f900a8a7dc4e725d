/** One way to send a request to another process and get its reply. Each side runs in its own process. */
export interface Variant {
  /** What a reader of the figures has to know about the variant. */
  readonly about: string;
  /** Serves until it is closed. If absent, the caller's process serves its own calls. */
  openWorker?(place: Place): Promise<WorkerSide>;
  openCaller(place: Place): Promise<CallerSide>;
}

/** Given to both sides. Each variant has its own server, so that none of them carries the data of another. */
export interface Place {
  readonly redisUrl: string;
  /** An empty folder for this variant. */
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
