import type { McpBearer } from './mcp-plane.ts';

/** Counts the streams that each bearer listens on. */
export interface StreamCount {
  /** False if the bearer already has the max number of streams. */
  enter(bearer: McpBearer): boolean;
  leave(bearer: McpBearer): void;
}

export function createStreamCount(most: number): StreamCount {
  const open = new Map<string, number>();
  return {
    enter({ id }) {
      const count = open.get(id) ?? 0;
      if (count >= most) return false;
      open.set(id, count + 1);
      return true;
    },
    leave({ id }) {
      const count = open.get(id) ?? 0;
      if (count <= 1) open.delete(id);
      else open.set(id, count - 1);
    },
  };
}
