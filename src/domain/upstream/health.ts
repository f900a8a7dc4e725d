/** How an MCP server stands at one worker. */
export interface UpstreamHealth {
  /** Id of the upstream, which is the id of its module. */
  readonly upstream: string;
  readonly connections: number;
  /** Definitions that the server offers and that are not published, because they are new or changed. */
  readonly waiting: number;
  /** Published definitions that the server changed or dropped. Their calls are refused. */
  readonly quarantined: readonly string[];
  /** Why the last connection failed, while none is open. */
  readonly problem?: string;
}
