import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import { listTools } from './list-tools.ts';
import type { McpCaller, McpHome, McpPeer } from './mcp-home.ts';
import { toProtocolError } from './protocol-problem.ts';

/** One exchange of 2026, or one session of 2025, speaks with one of these; none is ever shared. */
export function buildServer(home: McpHome, caller: McpCaller): Server {
  const server = new Server(
    { name: 'sallyport', version: home.release },
    { capabilities: { tools: { listChanged: true } } },
  );
  const peer: McpPeer = { ...caller, capabilities: () => server.getClientCapabilities() };
  server.setRequestHandler('tools/list', ({ params }) => answer(home, () => listTools(home, caller, params?.cursor)));
  server.setRequestHandler('tools/call', (request, ctx: ServerContext) =>
    answer(home, () => callTool(home, peer, request, ctx)),
  );
  return server;
}

async function answer<Result>({ plane }: McpHome, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const told = toProtocolError(error);
    if (told !== error) plane.log.warn({ error: String(error) }, 'an MCP request failed');
    throw told;
  }
}
