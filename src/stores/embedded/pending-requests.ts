import { planeError } from '../../domain/errors/errors.ts';
import type { RequestMessage } from './rpc.ts';

interface Answering {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface PendingRequest extends Answering {
  readonly method: string;
  readonly argument: unknown;
  /** For a request with `waitMs`: when its wait ends. */
  readonly waitUntil: number | undefined;
  /** The request times out if no answer arrives by then; undefined while the request is not sent to an owner. */
  lateAt: number | undefined;
  /** When to give up. Set when the request first finds no owner, and never moved: a request that kills every owner must not be sent for ever. */
  giveUpAt: number | undefined;
}

export interface RequestTimes {
  /** How long a request waits for the next owner after the last one has ended. */
  readonly patienceMs: number;
  /** How long a request may take in addition to the time it asked to wait. */
  readonly answerWithinMs: number;
}

/** Requests without an answer, in the order in which they were made. */
export class PendingRequests {
  readonly #times: RequestTimes;
  readonly #requests = new Map<number, PendingRequest>();
  #lastId = 0;

  constructor(times: RequestTimes) {
    this.#times = times;
  }

  get size(): number {
    return this.#requests.size;
  }

  add(method: string, argument: unknown, { resolve, reject }: Answering): number {
    const waitMs = (argument as { waitMs?: number } | null | undefined)?.waitMs;
    const waitUntil = waitMs === undefined ? undefined : performance.now() + waitMs;
    const id = ++this.#lastId;
    this.#requests.set(id, { method, argument, resolve, reject, waitUntil, lateAt: undefined, giveUpAt: undefined });
    return id;
  }

  /** Returns the message to send now; undefined for a request that already has its answer. */
  send(id: number): RequestMessage | undefined {
    const request = this.#requests.get(id);
    if (request === undefined) return undefined;
    const { method, argument, waitUntil } = request;
    const now = performance.now();
    if (waitUntil === undefined) {
      request.lateAt = now + this.#times.answerWithinMs;
      return [id, method, argument];
    }
    const waitMs = Math.max(0, waitUntil - now);
    request.lateAt = now + waitMs + this.#times.answerWithinMs;
    // A request that is sent again waits only for the rest of its time.
    const isRepeated = request.giveUpAt !== undefined;
    return [id, method, isRepeated ? { ...(argument as object), waitMs } : argument];
  }

  resolve(id: number, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  reject(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  rejectAll(error: Error): void {
    for (const id of this.#requests.keys()) this.reject(id, error);
  }

  ids(): number[] {
    return [...this.#requests.keys()];
  }

  /** To be called when the store is unavailable. These requests wait until it can be reached again, for up to `patienceMs`. */
  wait(ids: readonly number[], away: Error): void {
    const now = performance.now();
    for (const id of ids) {
      const request = this.#requests.get(id);
      if (request === undefined) continue;
      request.lateAt = undefined;
      request.giveUpAt ??= now + this.#times.patienceMs;
    }
    this.refuseOverdue(away);
  }

  /**
   * Rejects requests that have waited for an owner longer than `patienceMs`, and requests whose owner keeps its socket open but does not
   * answer in time.
   */
  refuseOverdue(away: Error): void {
    const now = performance.now();
    for (const [id, { lateAt, giveUpAt }] of this.#requests) {
      if (lateAt !== undefined && lateAt <= now) {
        const silence = `it did not answer within ${this.#times.answerWithinMs} ms`;
        this.reject(id, planeError('STORE_UNAVAILABLE', { problem: silence }));
      } else if (lateAt === undefined && giveUpAt !== undefined && giveUpAt <= now) {
        this.reject(id, away);
      }
    }
  }

  #take(id: number): PendingRequest | undefined {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    return request;
  }
}
