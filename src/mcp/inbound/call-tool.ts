import type { CallToolRequest, CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.ts';
import { callOnce } from './call-once.ts';
import { readWish } from './call-wish.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import { invalidParams } from './protocol-problem.ts';
import { showOutcome } from './show-outcome.ts';
import type { ShownTool } from './shown-tools.ts';

export async function callTool(
  home: McpHome,
  peer: McpPeer,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { id: tool } = await findTool(home, peer, params.name);
  const wish = readWish(params._meta);
  const args = (params.arguments ?? {}) as JsonObject;
  const session = await home.handleOf(peer, wish.run);
  const sent = { name: params.name, arguments: args };
  const answer = await callOnce({ home, peer, session, ctx, method: 'tools/call', params: sent, tool, args, wish });
  if (answer.kind === 'reply') return answer.reply as CallToolResult;
  const callId = answer.kind === 'settled' ? { callId: answer.callId } : {};
  return showOutcome(answer.outcome, { anyStructured: peer.era === '2026', earlier: answer.earlier, ...callId });
}

async function findTool(home: McpHome, peer: McpPeer, name: string): Promise<ShownTool> {
  const known = (await home.knownToolsOf(peer)).find(name) ?? (await home.toolsOf(peer)).find(name);
  if (known === undefined) throw invalidParams('name: there is no such tool', { code: 'TOOL_UNKNOWN' });
  return known;
}
