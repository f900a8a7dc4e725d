import { planeError } from '../../domain/errors/errors.ts';
import type { CallerId, CallId } from '../../domain/identity/ids.ts';
import type { CallReader, CallReplies } from '../../domain/ports/call-store.ts';
import type { ReplyItem } from '../../domain/ports/call-requests.ts';
import type { IncarnationCheck } from '../../domain/ports/store.ts';
import { WaiterTable } from './waiter-table.ts';
import { pause } from '../../base/pause.ts';

type Needs = CallReplies & CallReader & IncarnationCheck;

/**
 * The handle of one waiter. Call `accepted` with the call id as soon as the store has accepted the call: an outcome that is not in the
 * reply itself has to be read from the store by that id. Call `forget` when the caller stops waiting.
 */
export interface ExpectedReply {
  readonly correlationId: string;
  readonly outcome: Promise<Uint8Array>;
  accepted(callId: CallId): void;
  forget(): void;
}

/**
 * A waiter for one call. The reader calls its methods; one object per call, without closures or promises, keeps a call cheap. Each waiter
 * that stays in the reader gets exactly one end: `settled` or `failed`.
 */
export abstract class ReplyWaiter {
  readonly lane: number;
  readonly correlationId: string;
  /** Set by `accepted`. Needed when a reply says only that the outcome exists: the outcome is then read from the store by this id. */
  callId: CallId | undefined = undefined;
  since = 0;
  /** A reply said that the outcome exists; it has to be read from the store. */
  toFetch = false;

  constructor(lane: number, correlationId: string) {
    this.lane = lane;
    this.correlationId = correlationId;
  }

  abstract settled(outcome: Uint8Array): void;
  abstract failed(error: unknown): void;
  abstract receive(event: Uint8Array): void;
}

export interface ReplyReader {
  readonly callerId: CallerId;
  /** Unique among this caller's correlation ids. Other callers may use the same text: replies are stored per caller. */
  newCorrelationId(): string;
  /** Registers the waiter: from now on it is notified. Call `accepted` as soon as the store has accepted the call. */
  enter(waiter: ReplyWaiter): void;
  accepted(waiter: ReplyWaiter, callId: CallId): void;
  leave(waiter: ReplyWaiter): void;
  /** Registers a waiter like `enter`, and returns its outcome as a promise. */
  expect(lane: number, onEvent?: (event: Uint8Array) => void): ExpectedReply;
  close(): void;
}

const WAIT_MS = 5000;
const PAUSE_AFTER_FAILURE_MS = 200;
/** Number of missed replies to fetch in parallel. */
const FETCH_AT_ONCE = 16;

/**
 * Reads the replies of one caller and passes each to its waiter. The reply stream is only a hint: after any failure, and whenever nothing
 * arrived for a while, the call records themselves are read. So a lost reply costs time but never the answer.
 */
export function createReplyReader(store: Needs, callerId: CallerId): ReplyReader {
  const waiters = new WaiterTable<ReplyWaiter>();
  /** The number of waiters per lane. */
  const waiting: number[] = [];
  const reading = new Set<number>();
  let closed = false;

  async function readLane(lane: number): Promise<void> {
    let acknowledged: string[] = [];
    let fetchedAt = performance.now();
    while (!closed) {
      try {
        const replies = await store.takeReplies({ lane, callerId, acknowledged, waitMs: WAIT_MS });
        acknowledged = replies.map(({ replyId }) => replyId);
        for (const { items } of replies) for (const item of items) dispatch(item);
        if (replies.length > 0 && performance.now() - fetchedAt < WAIT_MS) continue;
        if (waiting[lane] === 0 && replies.length === 0) break;
      } catch (error) {
        if (closed) break;
        if (isFinal(error)) {
          failAll(lane, error);
          return;
        }
        await pause(PAUSE_AFTER_FAILURE_MS);
      }
      fetchedAt = performance.now();
      await fetchMissed(lane);
    }
    reading.delete(lane);
    if (waiting[lane] !== 0 && !closed) start(lane);
  }

  function start(lane: number): void {
    if (reading.has(lane)) return;
    reading.add(lane);
    void readLane(lane);
  }

  function leave(waiter: ReplyWaiter): boolean {
    const wasHere = waiters.remove(waiter);
    if (wasHere) waiting[waiter.lane]! -= 1;
    return wasHere;
  }

  function dispatch(item: ReplyItem): void {
    const waiter = waiters.find(item.correlationId);
    if (waiter === undefined) return;
    if (item.kind === 'event') return passEvent(waiter, item.event);
    if (item.kind === 'settled') {
      leave(waiter);
      waiter.settled(item.outcome);
    } else {
      waiter.toFetch = true;
      void fetch(waiter);
    }
  }

  /** An error in a listener becomes a process warning; it must not cost other waiters their replies. */
  function passEvent(waiter: ReplyWaiter, event: Uint8Array): void {
    try {
      waiter.receive(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }

  async function fetch(waiter: ReplyWaiter): Promise<void> {
    if (waiter.callId === undefined) return;
    try {
      const record = await store.readCall(waiter.callId);
      // An accepted call has a record. If there is none, the store was replaced, and the answer will never come.
      if (record === undefined) await store.checkIncarnation();
      // If the reply arrived during the read, the waiter has already left and is not notified again.
      if (record?.outcome !== undefined && leave(waiter)) waiter.settled(record.outcome);
    } catch (error) {
      // After any other error, the next `fetchMissed` reads the call again.
      if (isFinal(error)) failAll(waiter.lane, error);
    }
  }

  async function fetchMissed(lane: number): Promise<void> {
    const now = performance.now();
    const old = waiters.all().filter((waiter) => waiter.lane === lane && now - waiter.since >= WAIT_MS / 2);
    for (let at = 0; at < old.length && !closed; at += FETCH_AT_ONCE) {
      await Promise.all(old.slice(at, at + FETCH_AT_ONCE).map(fetch));
    }
  }

  function failAll(lane: number | 'all', error: unknown): void {
    for (const waiter of waiters.all()) {
      if ((lane === 'all' || waiter.lane === lane) && leave(waiter)) waiter.failed(error);
    }
  }

  const reader: ReplyReader = {
    callerId,
    newCorrelationId: () => waiters.newNumber(),
    enter(waiter) {
      if (closed) return waiter.failed(planeError('CLIENT_CLOSED', {}));
      waiter.since = performance.now();
      waiters.add(waiter);
      waiting[waiter.lane] = (waiting[waiter.lane] ?? 0) + 1;
      start(waiter.lane);
    },
    accepted(waiter, callId) {
      waiter.callId = callId;
      // The reply can arrive before the store's answer to the accept request. Without a call id, `dispatch` could not fetch it then.
      if (waiter.toFetch) void fetch(waiter);
    },
    leave: (waiter) => void leave(waiter),
    expect: (lane, onEvent) => expectReply(reader, lane, onEvent),
    close() {
      closed = true;
      failAll('all', planeError('CLIENT_CLOSED', {}));
    },
  };
  return reader;
}

class PromisedReply extends ReplyWaiter {
  readonly outcome: Promise<Uint8Array>;
  settled!: (outcome: Uint8Array) => void;
  failed!: (error: unknown) => void;
  readonly #onEvent: ((event: Uint8Array) => void) | undefined;

  constructor(lane: number, correlationId: string, onEvent: ((event: Uint8Array) => void) | undefined) {
    super(lane, correlationId);
    this.#onEvent = onEvent;
    this.outcome = new Promise((resolve, reject) => {
      this.settled = resolve;
      this.failed = reject;
    });
    // When the reader is closed, possibly no caller awaits this promise; avoid an unhandled rejection.
    this.outcome.catch(() => undefined);
  }

  receive(event: Uint8Array): void {
    this.#onEvent?.(event);
  }
}

function expectReply(reader: ReplyReader, lane: number, onEvent?: (event: Uint8Array) => void): ExpectedReply {
  const waiter = new PromisedReply(lane, reader.newCorrelationId(), onEvent);
  reader.enter(waiter);
  return {
    correlationId: waiter.correlationId,
    outcome: waiter.outcome,
    accepted: (callId) => reader.accepted(waiter, callId),
    forget: () => reader.leave(waiter),
  };
}

/** The store was emptied or replaced: the replies to the calls of the old one will never arrive. */
function isFinal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'STORE_REPLACED';
}
