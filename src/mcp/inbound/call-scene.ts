import type { ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import type { StateOwner } from './sealed-state.ts';

/** One request that comes to a call: who asks, in which session, and what their client can do. */
export interface CallScene {
  readonly home: McpHome;
  readonly peer: McpPeer;
  readonly session: SessionHandle;
  readonly ctx: ServerContext;
  /** Ends when the client has gone or cancels, and not when the request is simply over. */
  readonly signal: AbortSignal;
  readonly owner: StateOwner;
  /** Tells what of the arguments is not to be shown. */
  readonly inputSchema: JsonObject;
}
