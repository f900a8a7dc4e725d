import type { Plane } from '../ports/plane.ts';

/** Bounds how many runs of one tool go on at once in this worker, where the tool asks for a bound. First come, first served. */
export interface ToolLimiter {
  run(tool: string, plane: Pick<Plane, 'tools'>, work: () => Promise<void>): Promise<void>;
}

export function createToolLimiter(): ToolLimiter {
  const running = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();

  function leave(tool: string): void {
    const next = waiting.get(tool)?.shift();
    if (next !== undefined) return next();
    const count = (running.get(tool) ?? 1) - 1;
    if (count > 0) running.set(tool, count);
    else running.delete(tool);
  }

  return {
    async run(tool, plane, work) {
      const limit = plane.tools().find(tool)?.declaration.limits.concurrency;
      if (limit === undefined) return work();
      const count = running.get(tool) ?? 0;
      if (count >= limit) {
        await new Promise<void>((resolve) => {
          const queue = waiting.get(tool) ?? [];
          waiting.set(tool, queue);
          queue.push(resolve);
        });
      } else {
        running.set(tool, count + 1);
      }
      try {
        await work();
      } finally {
        leave(tool);
      }
    },
  };
}
