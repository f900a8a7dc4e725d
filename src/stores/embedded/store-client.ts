import { planeError } from '../../domain/errors.ts';
import type { StoreMethod } from '../../ports/store.ts';
import {
  decodeFrame,
  encodeFrame,
  rebuildError,
  type AnswerMessage,
  type CarriedError,
  type RequestMessage,
} from './rpc.ts';
import type { LinkEvents, StoreLink } from './store-link.ts';

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly lateAt: number;
}

/** What a request may take beyond the time it asked to wait. */
const ANSWER_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 1_000;
const CLOSED = 'it was closed';

type OpenLink = (events: LinkEvents) => Promise<StoreLink>;

/**
 * Sends requests over a link and opens a new one with the next request after it was lost. A request in flight then is
 * refused and never sent again by itself: only the caller knows whether it still wants it.
 */
export class StoreClient {
  readonly #openLink: OpenLink;
  #link: Promise<StoreLink> | undefined;
  #current: StoreLink | undefined;
  #pending = new Map<number, PendingRequest>();
  #outbox: RequestMessage[] = [];
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #lateTimer: NodeJS.Timeout | undefined;

  constructor(openLink: OpenLink) {
    this.#openLink = openLink;
  }

  async request(method: StoreMethod, argument: unknown): Promise<unknown> {
    if (this.#current === undefined || this.#closing !== undefined) await this.connect();
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const waitMs = (argument as { waitMs?: number } | null | undefined)?.waitMs ?? 0;
      this.#pending.set(id, { resolve, reject, lateAt: performance.now() + waitMs + ANSWER_WITHIN_MS });
      this.#lateTimer ??= setInterval(() => this.#refuseLate(), LOOK_EVERY_MS).unref();
      if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
      this.#outbox.push([id, method, argument]);
    });
  }

  async connect(): Promise<StoreLink> {
    if (this.#closing !== undefined) throw planeError('STORE_UNAVAILABLE', { problem: CLOSED });
    this.#link ??= this.#open();
    return this.#link;
  }

  get role(): StoreLink['role'] | undefined {
    return this.#current?.role;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const link = await this.#link?.catch(() => undefined);
    // What was asked before the end goes first; an owner carries it out before it closes the file.
    this.#flush();
    await link?.close();
    this.#lost(CLOSED);
  }

  async #open(): Promise<StoreLink> {
    try {
      this.#current = await this.#openLink({
        onFrame: (frame) => this.#receive(frame),
        onLost: (problem) => this.#lost(this.#closing === undefined ? problem : CLOSED),
      });
      return this.#current;
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
  }

  #flush(): void {
    const messages = this.#outbox;
    if (messages.length === 0) return;
    this.#outbox = [];
    try {
      this.#current?.send(encodeFrame(messages));
    } catch {
      // One of them cannot be encoded; the others must not suffer for it.
      for (const message of messages) this.#sendAlone(message);
    }
  }

  #sendAlone(message: RequestMessage): void {
    try {
      this.#current?.send(encodeFrame([message]));
    } catch (error) {
      this.#take(message[0])?.reject(planeError('INTERNAL', { problem: String(error) }, error));
    }
  }

  #receive(frame: Uint8Array): void {
    for (const [id, ok, value] of decodeFrame(frame) as AnswerMessage[]) {
      const pending = this.#take(id);
      if (ok === 1) pending?.resolve(value);
      else pending?.reject(rebuildError(value as CarriedError));
    }
  }

  #take(id: number): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #lost(problem: string): void {
    this.#link = undefined;
    this.#current = undefined;
    this.#outbox = [];
    clearInterval(this.#lateTimer);
    this.#lateTimer = undefined;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const { reject } of pending.values()) reject(planeError('STORE_UNAVAILABLE', { problem }));
  }

  /** A stopped owner keeps its socket open and says nothing. */
  #refuseLate(): void {
    const now = performance.now();
    for (const [id, { lateAt, reject }] of this.#pending) {
      if (lateAt > now) continue;
      this.#pending.delete(id);
      reject(planeError('STORE_UNAVAILABLE', { problem: `it did not answer within ${ANSWER_WITHIN_MS} ms` }));
    }
  }
}
