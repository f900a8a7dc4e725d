import type { LaneState } from '../ports/call-store.ts';
import type { Store } from '../ports/store.ts';

/**
 * Tells how old an answer of the store may be at most. The store said its time somewhere between our question and the answer, so no
 * answer says more than: at the store's T our own clock stood at the time of the question or later. The tightest such bound of late
 * tells how long any other answer has been on the wire, or before a main thread that was busy. Forgetting a bound, or having none
 * yet, only makes answers look older, which costs a second look and lets nothing pass.
 */
export interface StoreAge {
  /** Milliseconds since the lane's store said so, or more. */
  of(lane: number, storeTimeMs: number): number;
}

/** Bounds are kept for one to two of these: the two clocks do not run at exactly the same speed. */
const WINDOW_MS = 30_000;
/** The store's time comes in whole milliseconds, rounded down. */
const TICK_MS = 1;

interface Bounds {
  /** Our clock minus the store's is at least this. */
  least: number;
  next: number;
  turnsAt: number;
}

/** Watches every answer that carries the store's time. Lanes can stand on several nodes, each with a clock of its own. */
export function timeStore(store: Store): { readonly store: Store; readonly age: StoreAge } {
  const lanes = new Map<number, Bounds>();

  function learn(lane: number, askedAt: number, storeTimeMs: number): void {
    const now = performance.now();
    const least = askedAt - storeTimeMs - TICK_MS;
    const bounds = lanes.get(lane);
    // An answer from before its bound: the store's clock jumped ahead, and what older answers showed is no longer true.
    if (bounds === undefined || now - storeTimeMs < bounds.least) {
      lanes.set(lane, { least, next: least, turnsAt: now + WINDOW_MS });
      return;
    }
    if (now >= bounds.turnsAt) {
      bounds.least = bounds.next;
      bounds.next = Number.NEGATIVE_INFINITY;
      bounds.turnsAt = now + WINDOW_MS;
    }
    bounds.next = Math.max(bounds.next, least);
    bounds.least = Math.max(bounds.least, least);
  }

  const timed =
    <Request extends { readonly lane: number }, Answer extends { readonly lane: LaneState }>(
      ask: (request: Request) => Promise<Answer>,
    ) =>
    async (request: Request): Promise<Answer> => {
      const askedAt = performance.now();
      const answer = await ask(request);
      learn(request.lane, askedAt, answer.lane.now);
      return answer;
    };

  return {
    store: {
      ...store,
      claimCalls: timed((request) => store.claimCalls(request)),
      reclaimCalls: timed((request) => store.reclaimCalls(request)),
      recheckSessions: timed((request) => store.recheckSessions(request)),
    },
    age: {
      of(lane, storeTimeMs) {
        const least = lanes.get(lane)?.least ?? Number.NEGATIVE_INFINITY;
        return Math.max(0, performance.now() - storeTimeMs - least);
      },
    },
  };
}
