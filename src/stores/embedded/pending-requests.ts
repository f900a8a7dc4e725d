import { planeError } from '../../domain/errors.ts';
import type { RequestMessage } from './rpc.ts';

interface Answering {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface PendingRequest extends Answering {
  readonly method: string;
  readonly argument: unknown;
  /** For those that ask to wait: until when. */
  readonly waitUntil: number | undefined;
  /** An answer that is later than this does not come any more; undefined while the request is with nobody. */
  lateAt: number | undefined;
  /** Set when it first found the store away. It stays, so that a request which kills every owner is not sent for ever. */
  giveUpAt: number | undefined;
}

/** What a request may take beyond the time it asked to wait. */
const ANSWER_WITHIN_MS = 30_000;

/** Requests without an answer, in the order in which they were made. */
export class PendingRequests {
  readonly #patienceMs: number;
  readonly #requests = new Map<number, PendingRequest>();
  #lastId = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
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

  /** The message to be sent now; undefined for a request that has its answer. */
  send(id: number): RequestMessage | undefined {
    const request = this.#requests.get(id);
    if (request === undefined) return undefined;
    const { method, argument, waitUntil } = request;
    const now = performance.now();
    if (waitUntil === undefined) {
      request.lateAt = now + ANSWER_WITHIN_MS;
      return [id, method, argument];
    }
    const waitMs = Math.max(0, waitUntil - now);
    request.lateAt = now + waitMs + ANSWER_WITHIN_MS;
    // Sent again, it waits only for what is left of its time.
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

  /** The store is away: these wait for its return, as long as their patience lasts. */
  wait(ids: readonly number[], away: Error): void {
    const now = performance.now();
    for (const id of ids) {
      const request = this.#requests.get(id);
      if (request === undefined) continue;
      request.lateAt = undefined;
      request.giveUpAt ??= now + this.#patienceMs;
    }
    this.refuseOverdue(away);
  }

  /** Those whose patience is at its end, and those whose owner keeps its socket open and says nothing. */
  refuseOverdue(away: Error): void {
    const now = performance.now();
    for (const [id, { lateAt, giveUpAt }] of this.#requests) {
      if (lateAt !== undefined && lateAt <= now) {
        const silence = `it did not answer within ${ANSWER_WITHIN_MS} ms`;
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
