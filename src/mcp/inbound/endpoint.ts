import { classifyInboundRequest, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { buildServer } from './build-server.ts';
import { rejectMessage, RPC, type JsonRpcMessage } from './json-rpc.ts';
import { createMcpHome } from './mcp-home.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import { readMessage } from './read-message.ts';
import { createSessionsOf2025 } from './sessions-of-2025.ts';

export interface McpEndpoint {
  /** One HTTP request of a bearer whose token, Host and Origin were checked. */
  fetch(request: Request, bearer: McpBearer): Promise<Response>;
  close(): Promise<void>;
}

/** Both revisions on one route: each message says which one it is of. */
export function createMcpEndpoint(plane: McpPlane): McpEndpoint {
  const home = createMcpHome(plane);
  const sessions = createSessionsOf2025(home);
  const serving = new Set<McpHttpHandler>();

  /** A handler of its own for each request: nothing of one exchange is within reach of another. */
  async function serve2026(request: Request, bearer: McpBearer, message: JsonRpcMessage): Promise<Response> {
    const handler = createMcpHandler(() => buildServer(home, { bearer, era: '2026' }), { legacy: 'reject' });
    serving.add(handler);
    const response = await handler.fetch(request, { parsedBody: message });
    return whenDone(response, () => serving.delete(handler));
  }

  return {
    async fetch(request, bearer) {
      if (request.method !== 'POST') return withoutBody(request, bearer);
      const read = await readMessage(request);
      if (read.kind === 'rejected') return read.response;
      return isOf2025(request, read.message)
        ? sessions.fetch(request, bearer, read.message)
        : serve2026(request, bearer, read.message);
    },
    async close() {
      await Promise.all([sessions.close(), ...[...serving].map((handler) => handler.close())]);
    },
  };

  /** Sessions of 2025 are heard with GET and ended with DELETE; whoever has none sends POST only. */
  async function withoutBody(request: Request, bearer: McpBearer): Promise<Response> {
    const isOfSession = request.method === 'GET' || request.method === 'DELETE';
    if (isOfSession && request.headers.has('mcp-session-id')) return sessions.fetch(request, bearer, undefined);
    return rejectMessage(405, RPC.transport, 'Only POST is taken here.', { headers: { allow: 'POST' } });
  }
}

function isOf2025({ headers }: Request, body: JsonRpcMessage): boolean {
  const given = {
    protocolVersionHeader: headers.get('mcp-protocol-version') ?? undefined,
    mcpMethodHeader: headers.get('mcp-method') ?? undefined,
    mcpNameHeader: headers.get('mcp-name') ?? undefined,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return classifyInboundRequest({ httpMethod: 'POST', body, ...known }).kind === 'legacy';
}

function whenDone(response: Response, done: () => void): Response {
  if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: ended, value } = await reader.read();
      if (!ended) return controller.enqueue(value);
      done();
      controller.close();
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
