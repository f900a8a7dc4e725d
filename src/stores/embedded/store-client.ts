import { planeError, PlaneError } from '../../domain/errors/errors.ts';
import { PendingRequests, type RequestTimes } from './pending-requests.ts';
import {
  decodeFrame,
  encodeFrame,
  rebuildError,
  type AnswerMessage,
  type CarriedError,
  type COPY_METHOD,
  type RequestMessage,
} from './rpc.ts';
import type { LinkEvents, StoreLink } from './store-link.ts';
import type { StoreMethod } from './store-methods.ts';
import { pause } from '../../base/pause.ts';

const LOOK_EVERY_MS = 1_000;
const TRY_AGAIN_MS = 25;
const MAX_TRY_AGAIN_MS = 250;
/** Limits the size of a frame: all requests that waited for the next owner are sent at once. */
const MAX_REQUESTS_PER_FRAME = 128;
const CLOSED = 'it was closed';

type OpenLink = (events: LinkEvents) => Promise<StoreLink>;

/**
 * Sends requests over a link. When the link is lost, the requests without an answer wait for the next one and are sent again, for up to the
 * patience. Their commits may have happened although the answers were lost. The port requires that every method can be repeated.
 */
export class StoreClient {
  readonly #openLink: OpenLink;
  readonly #pending: PendingRequests;
  #link: Promise<StoreLink> | undefined;
  #current: StoreLink | undefined;
  #outbox: number[] = [];
  /** Why the store was unavailable the last time. */
  #away: Error = planeError('STORE_UNAVAILABLE', { problem: 'nobody has asked for it yet' });
  #reconnecting = false;
  #closing: Promise<void> | undefined;
  #lookTimer: NodeJS.Timeout | undefined;

  constructor(openLink: OpenLink, times: RequestTimes) {
    this.#openLink = openLink;
    this.#pending = new PendingRequests(times);
  }

  request(method: StoreMethod | typeof COPY_METHOD, argument: unknown): Promise<unknown> {
    if (this.#closing !== undefined) return Promise.reject(planeError('STORE_UNAVAILABLE', { problem: CLOSED }));
    return new Promise((resolve, reject) => {
      const id = this.#pending.add(method, argument, { resolve, reject });
      this.#lookTimer ??= setInterval(() => this.#pending.refuseOverdue(this.#away), LOOK_EVERY_MS).unref();
      if (this.#current === undefined) void this.#reconnect();
      else this.#post([id]);
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
    // Send what was requested before the close first: an owner runs it before it closes the file.
    this.#flush();
    clearInterval(this.#lookTimer);
    if (this.#current === undefined) this.#refuseAll();
    const link = await this.#link?.catch(() => undefined);
    await link?.close();
    this.#refuseAll();
  }

  #refuseAll(): void {
    this.#pending.rejectAll(planeError('STORE_UNAVAILABLE', { problem: CLOSED }));
  }

  async #open(): Promise<StoreLink> {
    let lost: string | undefined;
    let link: StoreLink | undefined;
    try {
      link = await this.#openLink({
        onFrame: (frame) => this.#receive(frame),
        onLost: (problem) => {
          lost = problem;
          if (link !== undefined) this.#lost(problem);
        },
      });
      if (lost !== undefined) throw planeError('STORE_UNAVAILABLE', { problem: lost });
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
    this.#current = link;
    this.#post(this.#pending.ids());
    return link;
  }

  /** Tries to reach the store until it is found, is another store, or no request waits for it any more. */
  async #reconnect(): Promise<void> {
    if (this.#reconnecting) return;
    this.#reconnecting = true;
    for (let attempt = 1; this.#pending.size > 0 && this.#current === undefined; attempt += 1) {
      try {
        await this.connect();
      } catch (error) {
        this.#notFound(error);
        if (this.#pending.size > 0) await pause(Math.min(TRY_AGAIN_MS * attempt, MAX_TRY_AGAIN_MS));
      }
    }
    this.#reconnecting = false;
  }

  #notFound(error: unknown): void {
    if (this.#closing !== undefined) return this.#refuseAll();
    if (!(error instanceof PlaneError) || error.code !== 'STORE_UNAVAILABLE') {
      // Another store, another protocol, or a file of another program: waiting does not help.
      return this.#pending.rejectAll(error instanceof Error ? error : new Error(String(error)));
    }
    this.#wait(error);
  }

  /** Requests of one turn are sent together. */
  #post(ids: readonly number[]): void {
    if (ids.length === 0) return;
    if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
    this.#outbox.push(...ids);
  }

  #flush(): void {
    const ids = this.#outbox;
    this.#outbox = [];
    for (let at = 0; at < ids.length; at += MAX_REQUESTS_PER_FRAME)
      this.#send(ids.slice(at, at + MAX_REQUESTS_PER_FRAME));
  }

  #send(ids: readonly number[]): void {
    const link = this.#current;
    // Without a link the requests wait; the next link sends all of them.
    if (link === undefined) return;
    const messages = ids.map((id) => this.#pending.send(id)).filter((message) => message !== undefined);
    try {
      link.send(encodeFrame(messages));
    } catch {
      // One of the messages cannot be encoded. Send each alone, so that the others are not affected.
      for (const message of messages) this.#sendAlone(link, message);
    }
  }

  #sendAlone(link: StoreLink, message: RequestMessage): void {
    try {
      link.send(encodeFrame([message]));
    } catch (error) {
      this.#pending.reject(message[0], planeError('INTERNAL', { problem: String(error) }, error));
    }
  }

  #receive(frame: Uint8Array): void {
    for (const [id, ok, value] of decodeFrame(frame) as AnswerMessage[]) {
      if (ok === 1) this.#pending.resolve(id, value);
      else this.#refused(id, rebuildError(value as CarriedError));
    }
  }

  #refused(id: number, error: PlaneError): void {
    // An owner that ends in an orderly way refuses the requests that it has not run. The next owner gets them.
    const isForNext = error.code === 'STORE_UNAVAILABLE' && this.#closing === undefined;
    if (isForNext) this.#wait(error, [id]);
    else this.#pending.reject(id, error);
  }

  #lost(problem: string): void {
    this.#link = undefined;
    this.#current = undefined;
    this.#outbox = [];
    if (this.#closing !== undefined) return this.#refuseAll();
    this.#wait(planeError('STORE_UNAVAILABLE', { problem }));
    void this.#reconnect();
  }

  #wait(away: Error, ids: readonly number[] = this.#pending.ids()): void {
    this.#away = away;
    this.#pending.wait(ids, away);
  }
}
