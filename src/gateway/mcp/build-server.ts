import {
  CLIENT_CAPABILITIES_META_KEY,
  Server,
  type ClientCapabilities,
  type JSONRPCRequest,
  type ListToolsResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import type { McpCaller, McpShared, McpPeer } from './mcp-shared.ts';
import { pageOf } from './pages.ts';
import { sayInvalidParams, toProtocolError } from './protocol-problem.ts';
import { serveSurfaces, type Answering } from './serve-surfaces.ts';
import { cancelTask, getTask, requireTasks, taskParams, TASKS_EXTENSION, updateTask } from './tasks.ts';

/** Builds the MCP server object for one request (revision 2026-07-28) or one session (revision 2025-11-25). It is never shared. */
export function buildServer(shared: McpShared, caller: McpCaller): Server {
  const server = new PlainServer(
    { name: 'sallyport', version: shared.release },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...(caller.era === '2026' ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
      },
    },
  );
  server.setRequestHandler('tools/list', ({ params }) =>
    answer(shared, () => listTools(shared, caller, params?.cursor)),
  );
  server.setRequestHandler('tools/call', (request, ctx) =>
    answer(shared, () => callTool(shared, peerOf(server, caller, ctx), request, ctx)),
  );
  const answering: Answering = (work) => answer(shared, work);
  serveSurfaces(server, shared, caller, answering, (ctx) => peerOf(server, caller, ctx));
  if (caller.era === '2026') serveTasks(server, shared, caller);
  return server;
}

/** A client of 2026 declares its capabilities in each request; a client of 2025 declares them once per session. */
function peerOf(server: Server, caller: McpCaller, ctx: ServerContext): McpPeer {
  const declared = (ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ];
  const own = caller.era === '2026' ? (declared as ClientCapabilities | undefined) : server.getClientCapabilities();
  return { ...caller, capabilities: () => own };
}

function serveTasks(server: Server, shared: McpShared, caller: McpCaller): void {
  const task = <Result>(ctx: ServerContext, work: (peer: McpPeer) => Promise<Result>): Promise<Result> =>
    answer(shared, async () => {
      const peer = peerOf(server, caller, ctx);
      requireTasks(peer);
      return work(peer);
    });
  server.setRequestHandler('tasks/get', { params: taskParams }, ({ taskId }, ctx) =>
    task(ctx, (peer) => getTask(shared, peer, taskId)),
  );
  // The SDK moves `inputResponses` from the params to `ctx.mcpReq`, as it does for a call that a client repeats with its answers.
  server.setRequestHandler('tasks/update', { params: taskParams }, ({ taskId }, ctx) =>
    task(ctx, (peer) => updateTask(shared, peer, taskId, ctx.mcpReq.inputResponses)),
  );
  server.setRequestHandler('tasks/cancel', { params: taskParams }, ({ taskId }, ctx) =>
    task(ctx, (peer) => cancelTask(shared, peer, taskId)),
  );
}

async function answer<Result>({ plane }: McpShared, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const protocolError = toProtocolError(error);
    if (protocolError !== error) plane.log.warn({ error: String(error) }, 'an MCP request failed');
    throw protocolError;
  }
}

/** Lists exactly the tools that the bearer's agent may call, always in the same order, one page at a time. */
async function listTools(shared: McpShared, caller: McpCaller, cursor: string | undefined): Promise<ListToolsResult> {
  const { list } = await shared.toolsOf(caller);
  const { items, more } = pageOf(list, ({ title }) => title, cursor);
  return { tools: items, ...more } as unknown as ListToolsResult;
}

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/**
 * The SDK adds `content` to every tool result. A task must not have `content`, so it is sent as the handler returned it. And the SDK answers
 * parameters that its schemas refuse as an internal error, with the JSON of its validator as the message.
 */
class PlainServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const checked = method === 'tools/call' ? this.wrapCall(handler) : super._wrapHandler(method, handler);
    return async (request, ctx) => {
      try {
        return await checked(request, ctx);
      } catch (error) {
        throw sayInvalidParams(error);
      }
    };
  }

  private wrapCall(handler: Handler): Handler {
    return async (request, ctx) => {
      let task: Result | undefined;
      const checked = super._wrapHandler('tools/call', async (inner, innerCtx) => {
        const result = await handler(inner, innerCtx);
        if (result['resultType'] !== 'task') return result;
        task = result;
        return { content: [] };
      });
      const result = await checked(request, ctx);
      return task ?? result;
    };
  }
}
