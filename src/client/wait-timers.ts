/** Max delay of a Node.js timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One limited wait, and its links in the list of waits of equal length. */
export interface TimedWait {
  waitsUntil: number;
  list: WaitList | undefined;
  before: TimedWait | undefined;
  after: TimedWait | undefined;
  onTimeout(): void;
}

/** All waits of one length, as a linked list ordered by expiry. */
export interface WaitList {
  readonly waitMs: number;
  first: TimedWait | undefined;
  last: TimedWait | undefined;
  timer: NodeJS.Timeout;
}

export interface WaitTimers {
  start(wait: TimedWait, waitMs: number): void;
  stop(wait: TimedWait): void;
  close(): void;
}

/**
 * Timers for very many short waits of a few different lengths: one timer per length instead of one per call. An empty list keeps its timer
 * until the timer fires, so that the next call can reuse it, but the timer then does not keep the process alive.
 */
export function createWaitTimers(): WaitTimers {
  const lists = new Map<number, WaitList>();

  function expire(list: WaitList): void {
    const now = performance.now();
    // A timer may fire a fraction of a millisecond early.
    while (list.first !== undefined && list.first.waitsUntil <= now + 1) {
      const wait = list.first;
      remove(list, wait);
      wait.onTimeout();
    }
    if (list.first === undefined) lists.delete(list.waitMs);
    else list.timer = setTimeout(expire, Math.max(1, list.first.waitsUntil - now), list);
  }

  function remove(list: WaitList, wait: TimedWait): void {
    if (wait.before === undefined) list.first = wait.after;
    else wait.before.after = wait.after;
    if (wait.after === undefined) list.last = wait.before;
    else wait.after.before = wait.before;
    wait.before = wait.after = wait.list = undefined;
  }

  function openList(waitMs: number): WaitList {
    const list: WaitList = { waitMs, first: undefined, last: undefined, timer: undefined as never };
    list.timer = setTimeout(expire, waitMs, list);
    lists.set(waitMs, list);
    return list;
  }

  return {
    start(wait, asked) {
      const waitMs = asked >= 1 ? Math.min(asked, MAX_TIMER_MS) : 1;
      const list = lists.get(waitMs) ?? openList(waitMs);
      if (list.last === undefined) {
        list.first = wait;
        list.timer.ref();
      } else {
        list.last.after = wait;
        wait.before = list.last;
      }
      list.last = wait;
      wait.list = list;
      wait.waitsUntil = performance.now() + waitMs;
    },
    stop(wait) {
      const { list } = wait;
      if (list === undefined) return;
      remove(list, wait);
      if (list.first === undefined) list.timer.unref();
    },
    close() {
      for (const list of lists.values()) clearTimeout(list.timer);
      lists.clear();
    },
  };
}
