/** The route to the pinned tools that this process serves. */
export interface PinnedRoute {
  /** The private queue that this process reads; undefined when it does not serve the tool. */
  poolOf(tool: string): string | undefined;
}
