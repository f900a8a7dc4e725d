/** Where this process serves its pinned tools. */
export interface PinnedRoute {
  /** The private queue that this process reads; undefined when it does not serve the tool. */
  poolOf(tool: string): string | undefined;
}
