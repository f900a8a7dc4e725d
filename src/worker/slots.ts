/** Limits how many calls may run at once. Readers reserve slots before they read, so that a worker never takes more than it can run. */
export interface Slots {
  readonly free: number;
  /** Takes 1 to `max` slots and returns their number; 0 if none became free within `waitMs`. First come, first served. */
  reserve(max: number, waitMs: number): Promise<number>;
  release(count: number): void;
  /** Takes a slot at once, even if none is free, for a call that the worker already holds. */
  retake(): void;
}

interface Waiting {
  readonly max: number;
  readonly take: (count: number) => void;
}

export function createSlots(total: number): Slots {
  let free = total;
  const waiting: Waiting[] = [];

  function grant(max: number): number {
    const count = Math.max(0, Math.min(free, max));
    free -= count;
    return count;
  }

  return {
    get free() {
      return free;
    },
    async reserve(max, waitMs) {
      if (free > 0 && waiting.length === 0) return grant(max);
      if (waitMs <= 0) return 0;
      return new Promise((resolve) => {
        const entry: Waiting = {
          max,
          take(count) {
            clearTimeout(timer);
            resolve(count);
          },
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(entry), 1);
          resolve(0);
        }, waitMs);
        waiting.push(entry);
      });
    },
    // Passes the slot to the longest waiter synchronously; otherwise the code that releases it could reserve it again first.
    release(count) {
      free += count;
      while (free > 0 && waiting.length > 0) {
        const next = waiting.shift()!;
        next.take(grant(next.max));
      }
    },
    retake: () => void (free -= 1),
  };
}
