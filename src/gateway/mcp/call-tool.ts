import type { CallToolRequest, CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { toVisibleJsonString } from '../../base/escape-text.ts';
import type { JsonObject } from '../../base/json.ts';
import { nearNames } from '../../base/near-names.ts';
import { callOnce } from './call-once.ts';
import { readCallMeta } from './call-meta.ts';
import type { McpShared, McpPeer } from './mcp-shared.ts';
import { invalidParams } from './protocol-problem.ts';
import { showOutcome } from './show-outcome.ts';
import type { ShownTool } from './shown-tools.ts';

export async function callTool(
  shared: McpShared,
  peer: McpPeer,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const found = await findTool(shared, peer, params.name);
  const callMeta = readCallMeta(params._meta);
  if (found === undefined) return refuseUnknown(shared, peer, params.name, callMeta.run);
  const { id: tool, shown } = found;
  const args = (params.arguments ?? {}) as JsonObject;
  const session = await shared.handleOf(peer, callMeta.run);
  const sent = { name: params.name, arguments: args };
  const asked = { shared, peer, session, ctx, method: 'tools/call', params: sent, tool, args, callMeta };
  const answer = await callOnce({ ...asked, hasOutputSchema: shown.outputSchema !== undefined });
  if (answer.kind === 'reply') return answer.reply as CallToolResult;
  const callId = answer.kind === 'settled' ? { callId: answer.callId } : {};
  return showOutcome(answer.outcome, { anyStructured: peer.era === '2026', earlier: answer.earlier, ...callId });
}

/** The max length of an unknown name in an error. */
const MAX_SHOWN_NAME = 128;

async function findTool(shared: McpShared, peer: McpPeer, name: string): Promise<ShownTool | undefined> {
  return (await shared.knownToolsOf(peer)).find(name) ?? (await shared.toolsOf(peer)).find(name);
}

/**
 * Answers a call of an unknown tool with a protocol error, as MCP requires. The plane still sees the call, so loop detection counts it:
 * its advice to the model is added to the error, and a call that it blocks gets a normal result.
 */
async function refuseUnknown(
  shared: McpShared,
  peer: McpPeer,
  name: string,
  runName: string | undefined,
): Promise<CallToolResult | InputRequiredResult> {
  // A name without dots is not a catalog id. Otherwise a tool that this peer was not shown could be called by its id.
  const shown = name.replaceAll('.', '__');
  const answer = await shared.callIn(peer, runName, (session) =>
    shared.plane.client.call(session, shown, {}, { via: 'mcp' }),
  );
  const { error, advice } = answer.kind === 'refused' ? answer.outcome : {};
  if (answer.kind === 'refused' && error?.code !== 'TOOL_UNKNOWN')
    return showOutcome(answer.outcome, { anyStructured: peer.era === '2026' });
  const known = (await shared.toolsOf(peer)).list.map((tool) => tool.name);
  const near = known.includes(shown) ? [shown] : nearNames(shown, known);
  const guess = near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`;
  const advised = advice === undefined ? '' : `. ${advice.replace(/\.$/, '')}`;
  const asked = toVisibleJsonString(name.slice(0, MAX_SHOWN_NAME));
  throw invalidParams(`name: there is no tool ${asked}${guess}${advised}`, {
    code: 'TOOL_UNKNOWN',
    ...(advice === undefined ? {} : { advice }),
  });
}
