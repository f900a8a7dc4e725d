import { planeError } from '../../domain/errors.ts';
import type { CallerId, CallId } from '../../domain/ids.ts';
import type { ReplyItem } from '../../ports/call-store.ts';
import type { Store } from '../../ports/store.ts';

type Needs = Pick<Store, 'takeReplies' | 'readCall' | 'checkIncarnation'>;

/** One waiter's place. Give it the call id as soon as accept has answered: outcomes that travel by reference need it. */
export interface ExpectedReply {
  readonly correlationId: string;
  readonly outcome: Promise<Uint8Array>;
  accepted(callId: CallId): void;
  forget(): void;
}

export interface ReplyReader {
  readonly callerId: CallerId;
  expect(lane: number, onEvent?: (event: Uint8Array) => void): ExpectedReply;
  close(): void;
}

interface Waiting {
  readonly correlationId: string;
  readonly since: number;
  readonly resolve: (outcome: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: ((event: Uint8Array) => void) | undefined;
  callId: CallId | undefined;
  /** The outcome is there and has to be fetched. */
  settled: boolean;
}

const WAIT_MS = 5000;
const PAUSE_AFTER_TROUBLE_MS = 200;
/** Missed replies are fetched so many at a time. */
const FETCH_AT_ONCE = 16;

/**
 * Reads the replies of one caller and hands each to its waiter. The reply stream is only a hint: after any trouble, and whenever
 * nothing came for a while, the records themselves are asked, so a lost reply costs time and never the answer.
 */
export function createReplyReader(store: Needs, callerId: CallerId): ReplyReader {
  const lanes = new Map<number, Map<string, Waiting>>();
  const reading = new Set<number>();
  let closed = false;
  let expected = 0;

  async function readLane(lane: number, waiting: Map<string, Waiting>): Promise<void> {
    let acknowledged: string[] = [];
    let fetchedAt = performance.now();
    while (!closed) {
      try {
        const replies = await store.takeReplies({ lane, callerId, acknowledged, waitMs: WAIT_MS });
        acknowledged = replies.map(({ replyId }) => replyId);
        for (const { items } of replies) for (const item of items) dispatch(waiting, item);
        if (replies.length > 0 && performance.now() - fetchedAt < WAIT_MS) continue;
        if (waiting.size === 0 && replies.length === 0) break;
      } catch (error) {
        if (closed) break;
        if (isFinal(error)) return rejectAll(waiting, error);
        await pause(PAUSE_AFTER_TROUBLE_MS);
      }
      fetchedAt = performance.now();
      await fetchMissed(waiting);
    }
    reading.delete(lane);
    if (waiting.size > 0 && !closed) start(lane, waiting);
  }

  function start(lane: number, waiting: Map<string, Waiting>): void {
    if (reading.has(lane)) return;
    reading.add(lane);
    void readLane(lane, waiting);
  }

  function dispatch(waiting: Map<string, Waiting>, item: ReplyItem): void {
    const waiter = waiting.get(item.correlationId);
    if (waiter === undefined) return;
    if (item.kind === 'event') return hear(waiter, item.event);
    if (item.kind === 'settled') {
      waiting.delete(item.correlationId);
      waiter.resolve(item.outcome);
    } else {
      waiter.settled = true;
      void fetch(waiting, waiter);
    }
  }

  /** A listener's mistake is its own: it must not cost other waiters their replies. */
  function hear(waiter: Waiting, event: Uint8Array): void {
    try {
      waiter.onEvent?.(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }

  async function fetch(waiting: Map<string, Waiting>, waiter: Waiting): Promise<void> {
    if (waiter.callId === undefined) return;
    try {
      const record = await store.readCall(waiter.callId);
      // An accepted call has a record. Without one the store is not what it was, and the answer will never come.
      if (record === undefined) await store.checkIncarnation();
      if (record?.outcome === undefined) return;
      waiting.delete(waiter.correlationId);
      waiter.resolve(record.outcome);
    } catch (error) {
      // Otherwise the next round asks again.
      if (isFinal(error)) rejectAll(waiting, error);
    }
  }

  async function fetchMissed(waiting: Map<string, Waiting>): Promise<void> {
    const now = performance.now();
    const old = [...waiting.values()].filter((waiter) => now - waiter.since >= WAIT_MS / 2);
    for (let at = 0; at < old.length && !closed; at += FETCH_AT_ONCE) {
      await Promise.all(old.slice(at, at + FETCH_AT_ONCE).map((waiter) => fetch(waiting, waiter)));
    }
  }

  return {
    callerId,
    expect(lane, onEvent) {
      // Unique among this caller's, which is all it has to be.
      const correlationId = (expected += 1).toString(36);
      const waiting = lanes.get(lane) ?? new Map<string, Waiting>();
      lanes.set(lane, waiting);
      let waiter!: Waiting;
      const outcome = new Promise<Uint8Array>((resolve, reject) => {
        waiter = {
          correlationId,
          since: performance.now(),
          resolve,
          reject,
          onEvent,
          callId: undefined,
          settled: false,
        };
      });
      // Nobody may be listening when the reader is closed.
      outcome.catch(() => undefined);
      if (closed) waiter.reject(planeError('CLIENT_CLOSED', {}));
      waiting.set(correlationId, waiter);
      start(lane, waiting);
      return {
        correlationId,
        outcome,
        accepted(callId) {
          waiter.callId = callId;
          // The reply can overtake the answer to accept.
          if (waiter.settled) void fetch(waiting, waiter);
        },
        forget: () => void waiting.delete(correlationId),
      };
    },
    close() {
      closed = true;
      for (const waiting of lanes.values()) rejectAll(waiting, planeError('CLIENT_CLOSED', {}));
    },
  };
}

function rejectAll(waiting: Map<string, Waiting>, error: unknown): void {
  for (const waiter of waiting.values()) waiter.reject(error);
  waiting.clear();
}

/** A replaced store will not bring the answers back. */
function isFinal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'STORE_REPLACED';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
