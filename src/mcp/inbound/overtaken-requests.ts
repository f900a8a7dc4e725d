import type { JsonRpcId } from './json-rpc.ts';

/** A message on another connection is not that late. */
const REMEMBERED_MS = 10_000;
/** More than a client has under way at once; a cancellation that comes after the answer is one of them too. */
const MAX_REMEMBERED = 64;

/**
 * Requests whose cancellation came first: a client sends each message on a connection of its own. Such a request must not be served. Its
 * client has given it up, and may have sent the same call again.
 */
export class OvertakenRequests {
  readonly #since = new Map<JsonRpcId, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(id: JsonRpcId): void {
    this.#since.delete(id);
    this.#since.set(id, this.#now());
    const [oldest] = this.#since.keys();
    if (this.#since.size > MAX_REMEMBERED) this.#since.delete(oldest!);
  }

  /** Whether the request was cancelled. An id is asked about once: it is that of one request. */
  take(id: JsonRpcId): boolean {
    const since = this.#since.get(id);
    this.#since.delete(id);
    return since !== undefined && this.#now() - since < REMEMBERED_MS;
  }
}
