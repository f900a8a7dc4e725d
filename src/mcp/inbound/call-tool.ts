import type { CallToolRequest, ServerContext } from '@modelcontextprotocol/server';
import type { CallEvent } from '../../domain/call-event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { CallUnderWay } from './call-under-way.ts';
import { readWish, type CallWish } from './call-wish.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import { invalidParams } from './protocol-problem.ts';
import type { CallScene } from './call-scene.ts';
import { pursueCall, resumeCall, type ToolReply } from './pursue-call.ts';
import { knowsTasks } from './tasks.ts';
import type { ShownTool } from './shown-tools.ts';

/** Through the whole data path. Who closes the stream of a 2026 call, or cancels, cancels the call. */
export async function callTool(
  home: McpHome,
  peer: McpPeer,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<ToolReply> {
  const tool = await findTool(home, peer, params.name);
  const wish = readWish(params._meta);
  const args = (params.arguments ?? {}) as JsonObject;
  const owner = { bearer: peer.bearer, method: 'tools/call', params: { name: params.name, arguments: args } };
  const state = await openState(home, owner, ctx.mcpReq.requestState());
  const session = await home.handleOf(peer, wish.run);
  const abort = linkAbort(ctx.mcpReq.signal);
  try {
    const { inputSchema } = tool.shown;
    const scene: CallScene = { home, peer, session, ctx, signal: abort.signal, owner, inputSchema };
    return await (state === undefined ? pursueCall(scene, begin(scene, tool, args, wish)) : resumeCall(scene, state));
  } finally {
    abort.unlink();
  }
}

async function openState(home: McpHome, owner: CallScene['owner'], sealed: unknown): Promise<JsonObject | undefined> {
  if (sealed === undefined) return undefined;
  const state = typeof sealed === 'string' ? await home.seals.open(owner, sealed) : undefined;
  if (state !== undefined) return state;
  home.plane.log.warn({ bearer: owner.bearer.id, method: owner.method }, 'a request state was refused');
  throw invalidParams('requestState is not valid, or was used', { reason: 'state_invalid' });
}

async function findTool(home: McpHome, peer: McpPeer, name: string): Promise<ShownTool> {
  const known = (await home.knownToolsOf(peer)).find(name) ?? (await home.toolsOf(peer)).find(name);
  if (known === undefined) throw invalidParams('name: there is no such tool', { code: 'TOOL_UNKNOWN' });
  return known;
}

function begin(
  { home, peer, session, ctx, signal }: CallScene,
  tool: ShownTool,
  args: JsonObject,
  wish: CallWish,
): CallUnderWay {
  const { client, config } = home.plane;
  const { waitMs } = config.gateway.mcp;
  if (wish.callId !== undefined) return CallUnderWay.found(client, session, wish.callId, { waitMs, signal });
  const { key, trace, traceState } = wish;
  const tell = tellProgress(wish, ctx);
  return CallUnderWay.made(client, session, (hear) =>
    client.call(session, tool.id, args, {
      // Who knows tasks need not sit it out.
      ...(knowsTasks(peer) ? {} : { waitMs }),
      signal,
      onEvent(event) {
        hear(event);
        tell?.(event);
      },
      ...(key === undefined ? {} : { key }),
      ...(trace === undefined ? {} : { trace }),
      ...(traceState === undefined ? {} : { traceState }),
    }),
  );
}

/** Progress only ever grows: what does not is not sent. */
function tellProgress({ progressToken }: CallWish, ctx: ServerContext): ((event: CallEvent) => void) | undefined {
  if (progressToken === undefined) return undefined;
  let last = -Infinity;
  return (event) => {
    if (event.kind !== 'progress') return;
    const { done, total, message } = event;
    const progress = done ?? (last === -Infinity ? 0 : last + 1);
    if (progress <= last) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** The SDK ends its signal also when an exchange is simply over; a call that goes on must not hear that. */
function linkAbort(outer: AbortSignal): { readonly signal: AbortSignal; unlink(): void } {
  const own = new AbortController();
  const onAbort = (): void => own.abort();
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', onAbort) };
}
