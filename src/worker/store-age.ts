import type { CallLeases, CallQueue } from '../domain/ports/call-store.ts';
import type { LaneState } from '../domain/ports/call-requests.ts';

/**
 * Gives an upper bound on the age of a store answer. The store read its clock at some time between the request and the answer. So each
 * answer proves only this: at the store's time T, this process's clock was at the time of the request or later. The tightest of the recent
 * bounds shows how long any other answer was on the wire, or waited for a busy main thread. Losing a bound, or having none yet, only makes
 * answers look older. That costs a second check, and never lets a stale answer pass.
 */
export interface StoreAge {
  /** Upper bound on the milliseconds since the lane's store read this time from its clock. Infinite while there is no bound yet. */
  of(lane: number, storeTimeMs: number): number;
}

/** A bound is kept for one to two of these periods, because the two clocks do not run at exactly the same speed. */
const WINDOW_MS = 30_000;
/** The store's time is in whole milliseconds, rounded down. */
const TICK_MS = 1;

interface Bounds {
  /** This process's clock minus the store's is at least this. */
  min: number;
  next: number;
  turnsAt: number;
}

/** Observes every answer that contains the store's time. Lanes can be on several nodes, each with its own clock. */
export function timeStore<Timed extends CallQueue & CallLeases>(
  store: Timed,
): { readonly store: Timed; readonly age: StoreAge } {
  const lanes = new Map<number, Bounds>();

  function learn(lane: number, askedAt: number, storeTimeMs: number): void {
    const now = performance.now();
    const min = askedAt - storeTimeMs - TICK_MS;
    const bounds = lanes.get(lane);
    // This answer contradicts the bound: the store's clock jumped ahead, so the bounds from older answers no longer hold.
    if (bounds === undefined || now - storeTimeMs < bounds.min) {
      lanes.set(lane, { min, next: min, turnsAt: now + WINDOW_MS });
      return;
    }
    if (now >= bounds.turnsAt) {
      bounds.min = bounds.next;
      bounds.next = Number.NEGATIVE_INFINITY;
      bounds.turnsAt = now + WINDOW_MS;
    }
    bounds.next = Math.max(bounds.next, min);
    bounds.min = Math.max(bounds.min, min);
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
        const min = lanes.get(lane)?.min ?? Number.NEGATIVE_INFINITY;
        return Math.max(0, performance.now() - storeTimeMs - min);
      },
    },
  };
}
