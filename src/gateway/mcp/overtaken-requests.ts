import type { JsonRpcId } from './json-rpc.ts';

/** How long a cancellation is remembered. The request that it overtook, on another connection, arrives within this time. */
const REMEMBERED_MS = 10_000;
/**
 * Max remembered cancellations. More than the requests that a client has open at once, because cancellations that arrive after the answer
 * are remembered, too.
 */
const MAX_REMEMBERED = 64;

/**
 * Requests whose cancellation arrived before them, because a client sends each message on its own connection. Such a request must not be
 * served: its client has given it up, and may have sent the same call again.
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

  /** Whether the request was cancelled. Removes the id, because it belongs to one request only. */
  take(id: JsonRpcId): boolean {
    const since = this.#since.get(id);
    this.#since.delete(id);
    return since !== undefined && this.#now() - since < REMEMBERED_MS;
  }
}
