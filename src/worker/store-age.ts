/**
 * Tells how old an answer of the store is. The store's time and this process's monotonic clock run side by side, so the smallest
 * difference seen lately is what a prompt answer shows; whatever an answer shows beyond it is time it has spent waiting, on the
 * wire or before a main thread that was busy. A store clock that jumps makes answers look old, which only costs a second look.
 */
export interface StoreAge {
  /** Milliseconds since the store said so. */
  of(storeTimeMs: number): number;
}

/** Long enough to have seen a prompt answer, short enough to forget a clock that jumped. */
const WINDOW_MS = 30_000;

export function createStoreAge(): StoreAge {
  let smallest = Number.POSITIVE_INFINITY;
  let next = Number.POSITIVE_INFINITY;
  let turnsAt = Number.NEGATIVE_INFINITY;
  return {
    of(storeTimeMs) {
      const now = performance.now();
      const difference = now - storeTimeMs;
      if (now >= turnsAt) {
        // Two windows that take turns: the minimum of the last one counts until the next is full.
        smallest = next;
        next = Number.POSITIVE_INFINITY;
        turnsAt = now + WINDOW_MS;
      }
      next = Math.min(next, difference);
      smallest = Math.min(smallest, difference);
      return difference - smallest;
    },
  };
}
