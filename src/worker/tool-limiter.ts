import type { Plane } from '../ports/plane.ts';
import type { Slots } from './slots.ts';

/** Bounds how many runs of one tool go on at once in this worker, where the tool asks for a bound. First come, first served. */
export interface ToolLimiter {
  run(tool: string, plane: Pick<Plane, 'tools'>, work: () => Promise<void>): Promise<void>;
  /** A run that waits for a call of its own lets others of its tool go on, which that call may be. Returns how to take it back. */
  lend(tool: string): () => void;
}

/** So many calls of one tool wait without a slot; more keep theirs, or a slow tool would draw the whole queue into memory. */
const MOST_WITHOUT_SLOT = 32;

export function createToolLimiter(slots: Slots): ToolLimiter {
  const running = new Map<string, number>();
  const limits = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();

  function leave(tool: string): void {
    const over = (running.get(tool) ?? 0) - (limits.get(tool) ?? 0);
    // A turn that was lent came back: this one is not passed on.
    if (over > 0) return void running.set(tool, running.get(tool)! - 1);
    const next = waiting.get(tool)?.shift();
    if (next !== undefined) return next();
    const count = (running.get(tool) ?? 1) - 1;
    if (count > 0) running.set(tool, count);
    else running.delete(tool);
  }

  /** While it waits, its slot serves other tools. */
  async function waitForTurn(tool: string): Promise<void> {
    const queue = waiting.get(tool) ?? [];
    waiting.set(tool, queue);
    const lends = queue.length < MOST_WITHOUT_SLOT;
    if (lends) slots.release(1);
    await new Promise<void>((resolve) => queue.push(resolve));
    if (queue.length === 0 && waiting.get(tool) === queue) waiting.delete(tool);
    if (lends) slots.retake();
  }

  async function runLimited(tool: string, limit: number, work: () => Promise<void>): Promise<void> {
    limits.set(tool, limit);
    const count = running.get(tool) ?? 0;
    if (count >= limit) {
      await waitForTurn(tool);
    } else {
      running.set(tool, count + 1);
    }
    try {
      await work();
    } finally {
      leave(tool);
    }
  }

  return {
    lend(tool) {
      if (!running.has(tool)) return () => undefined;
      leave(tool);
      return () => void running.set(tool, (running.get(tool) ?? 0) + 1);
    },
    run(tool, plane, work) {
      const limit = plane.tools().find(tool)?.declaration.limits.concurrency;
      return limit === undefined ? work() : runLimited(tool, limit, work);
    },
  };
}
