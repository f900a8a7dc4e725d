/** Finds the queue for tools that run in this process because they are pinned to their caller. */
export interface PinnedRoute {
  /** The private queue that this process reads; undefined when it does not serve the tool. */
  poolOf(tool: string): string | undefined;
}
