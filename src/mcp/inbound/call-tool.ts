import type { CallToolRequest, CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { sha256 } from '../../wire/digest.ts';
import type { Answered } from './call-scene.ts';
import { CallUnderWay } from './call-under-way.ts';
import { readWish } from './call-wish.ts';
import { hearEvents } from './hear-events.ts';
import { linkAbort } from './link-abort.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import { invalidParams } from './protocol-problem.ts';
import { pursueCall } from './pursue-call.ts';
import { showOutcome } from './show-outcome.ts';
import type { ShownTool } from './shown-tools.ts';
import { knowsTasks } from './tasks.ts';
import { inputKindsOf } from './tool-input.ts';

/** Through the whole data path. Who closes the stream of a 2026 call, or cancels, cancels the call. */
export async function callTool(
  home: McpHome,
  peer: McpPeer,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = await findTool(home, peer, params.name);
  const wish = readWish(params._meta);
  const args = (params.arguments ?? {}) as JsonObject;
  const owner = { bearer: peer.bearer, method: 'tools/call', params: { name: params.name, arguments: args } };
  const session = await home.handleOf(peer, wish.run);
  const { client, config } = home.plane;
  const { waitMs, taskAfterMs } = config.gateway.mcp;
  const { signal, unlink } = linkAbort(ctx.mcpReq.signal, home);
  const { key, trace, traceState } = wish;
  const asked = { bearer: peer.bearer.id, run: session.run, tool: tool.id, arguments: args };
  const earlier = wish.callId ?? (key === undefined ? home.pending.find(asked) : undefined);
  const comesBack = earlier !== undefined;
  const begin = (answered?: Answered): CallUnderWay => {
    if (earlier !== undefined && answered === undefined)
      return CallUnderWay.found(client, session, earlier, { waitMs, signal });
    return CallUnderWay.made(client, session, (hear) =>
      client.call(session, tool.id, args, {
        // Who knows tasks need not sit it out.
        waitMs: knowsTasks(peer) ? taskAfterMs : waitMs,
        signal,
        via: 'mcp',
        onEvent: hearEvents(wish, ctx, hear),
        input: { kinds: inputKindsOf(peer), ...answered },
        ...(key === undefined ? {} : { key: answered === undefined ? key : keyOfRound(key, answered) }),
        ...(trace === undefined ? {} : { trace }),
        ...(traceState === undefined ? {} : { traceState }),
      }),
    );
  };
  try {
    const pursued = await pursueCall({ home, peer, session, ctx, signal, owner, comesBack, begin });
    if (pursued.kind === 'reply') {
      if (pursued.pending !== undefined) home.pending.remember(asked, pursued.pending);
      return pursued.reply as CallToolResult;
    }
    home.pending.forget(asked);
    const callId = pursued.kind === 'settled' ? { callId: pursued.callId } : {};
    return showOutcome(pursued.outcome, { anyStructured: peer.era === '2026', ...callId });
  } finally {
    unlink();
  }
}

/** Another run is another call: the same answers to the same questions are the same one again. */
function keyOfRound(key: string, { responses, state = '' }: Answered): string {
  return sha256(canonicalJson([key, responses, state]));
}

async function findTool(home: McpHome, peer: McpPeer, name: string): Promise<ShownTool> {
  const known = (await home.knownToolsOf(peer)).find(name) ?? (await home.toolsOf(peer)).find(name);
  if (known === undefined) throw invalidParams('name: there is no such tool', { code: 'TOOL_UNKNOWN' });
  return known;
}
