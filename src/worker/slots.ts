/** How many calls may run at once. Readers reserve before they read, so that a worker never takes more than it can run. */
export interface Slots {
  readonly free: number;
  /** Takes 1 to `most` slots, or 0 when none became free within `waitMs`. */
  reserve(most: number, waitMs: number): Promise<number>;
  release(count: number): void;
  /** Takes a lent slot back at once, even if none is free: whoever waited for a nested call has waited enough. */
  retake(): void;
}

export function createSlots(total: number): Slots {
  let free = total;
  const waiting: (() => void)[] = [];
  const take = (most: number): number => {
    const count = Math.min(free, most);
    free -= count;
    return count;
  };
  return {
    get free() {
      return free;
    },
    async reserve(most, waitMs) {
      if (free <= 0) await waitForOne(waitMs);
      return free > 0 ? take(most) : 0;
    },
    retake: () => void (free -= 1),
    release(count) {
      free += count;
      while (free > 0 && waiting.length > 0) waiting.shift()!();
    },
  };

  function waitForOne(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        const at = waiting.indexOf(finish);
        if (at >= 0) waiting.splice(at, 1);
        resolve();
      };
      const timer = setTimeout(finish, waitMs);
      waiting.push(finish);
    });
  }
}
