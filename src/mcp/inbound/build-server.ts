import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import { listTools } from './list-tools.ts';
import type { McpCaller, McpHome, McpPeer } from './mcp-home.ts';
import { PlainServer } from './plain-server.ts';
import { toProtocolError } from './protocol-problem.ts';
import { cancelTask, getTask, requireTasks, taskParams, TASKS_EXTENSION, updateParams, updateTask } from './tasks.ts';

/** One exchange of 2026, or one session of 2025, speaks with one of these; none is ever shared. */
export function buildServer(home: McpHome, caller: McpCaller): Server {
  const server = new PlainServer(
    { name: 'sallyport', version: home.release },
    {
      capabilities: {
        tools: { listChanged: true },
        ...(caller.era === '2026' ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
      },
    },
  );
  const peer: McpPeer = { ...caller, capabilities: () => server.getClientCapabilities() };
  server.setRequestHandler('tools/list', ({ params }) => answer(home, () => listTools(home, caller, params?.cursor)));
  server.setRequestHandler('tools/call', (request, ctx: ServerContext) =>
    answer(home, () => callTool(home, peer, request, ctx)),
  );
  if (caller.era === '2026') serveTasks(server, home, peer);
  return server;
}

function serveTasks(server: Server, home: McpHome, peer: McpPeer): void {
  const task = <Result>(work: () => Promise<Result>): Promise<Result> =>
    answer(home, async () => {
      requireTasks(peer);
      return work();
    });
  server.setRequestHandler('tasks/get', { params: taskParams }, ({ taskId }) =>
    task(() => getTask(home, peer, taskId)),
  );
  server.setRequestHandler('tasks/update', { params: updateParams }, (params) =>
    task(() => updateTask(home, peer, params)),
  );
  server.setRequestHandler('tasks/cancel', { params: taskParams }, ({ taskId }) =>
    task(() => cancelTask(home, peer, taskId)),
  );
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
