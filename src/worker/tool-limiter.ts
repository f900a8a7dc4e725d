import type { Plane } from '../domain/ports/plane.ts';
import type { Slots } from './slots.ts';

/** Limits how many runs of one tool execute at once in this worker, for tools that declare a limit. First come, first served. */
export interface ToolLimiter {
  run(tool: string, plane: Pick<Plane, 'tools'>, work: () => Promise<void>): Promise<void>;
  /**
   * Gives up the turn of a run that waits, so that other runs of its tool can proceed. The nested call that the run waits for may need that
   * turn. Returns a function that takes the turn back.
   */
  lend(tool: string): () => void;
}

/**
 * Max calls of one tool that wait without a slot. Further ones keep their slot; otherwise the worker would take every queued call of a slow
 * tool.
 */
const MAX_WITHOUT_SLOT = 32;

export function createToolLimiter(slots: Slots): ToolLimiter {
  const running = new Map<string, number>();
  const limits = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();

  function leave(tool: string): void {
    const over = (running.get(tool) ?? 0) - (limits.get(tool) ?? 0);
    // A run has taken its lent turn back, so more runs are active than the limit allows. This turn is not passed on.
    if (over > 0) return void running.set(tool, running.get(tool)! - 1);
    const next = waiting.get(tool)?.shift();
    if (next !== undefined) return next();
    const count = (running.get(tool) ?? 1) - 1;
    if (count > 0) running.set(tool, count);
    else running.delete(tool);
  }

  /** While the call waits, its slot is used by other tools. */
  async function waitForTurn(tool: string): Promise<void> {
    const queue = waiting.get(tool) ?? [];
    waiting.set(tool, queue);
    const lends = queue.length < MAX_WITHOUT_SLOT;
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
