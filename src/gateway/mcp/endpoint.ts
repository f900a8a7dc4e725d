import {
  classifyInboundRequest,
  createMcpHandler,
  type McpHttpHandler,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../base/json.ts';
import { buildServer } from './build-server.ts';
import { idOf, rejectMessage, RPC, type JsonRpcMessage } from './json-rpc.ts';
import { createMcpShared, type McpCaller, type McpShared } from './mcp-shared.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import type { Exchange } from './owed-request.ts';
import { checkParamHeaders } from './param-headers.ts';
import { readMessage } from './read-message.ts';
import { createSessionsOf2025 } from './sessions-of-2025.ts';
import { refuseSubscriptions } from './subscriptions.ts';
import { createToolChanges } from './tool-changes.ts';
import { whenDone } from './when-done.ts';

/** Max delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface McpEndpoint {
  /**
   * Serves one HTTP request of a bearer whose token, Host and Origin were checked. `exchange` reports whether the response was written.
   * Without it, every returned response counts as written, and a client that had gone by then cannot come back for its call.
   */
  fetch(request: Request, bearer: McpBearer, exchange?: Exchange): Promise<Response>;
  close(): Promise<void>;
}

/** Serves both protocol revisions on one route; each message shows which revision it uses. */
export function createMcpEndpoint(plane: McpPlane): McpEndpoint {
  const shared = createMcpShared(plane);
  const watchTools = createToolChanges(shared);
  const streams = createStreamCount(plane.config.gateway.mcp.streamsPerBearer);
  const sessions = createSessionsOf2025(shared, watchTools);
  const serving = new Set<McpHttpHandler>();

  /** Each request gets its own handler, so no exchange can reach the data of another. */
  async function serve2026(
    request: Request,
    bearer: McpBearer,
    message: JsonRpcMessage,
    exchange: Exchange | undefined,
  ): Promise<Response> {
    const caller: McpCaller = { bearer, era: '2026', exchange: () => exchange };
    const refused = await checkHeadersOfTool(shared, caller, message, request.headers);
    if (refused !== undefined) return refused;
    const listens = message['method'] === 'subscriptions/listen';
    const tooMuch = listens ? refuseSubscriptions(message) : undefined;
    if (tooMuch !== undefined) return tooMuch;
    if (listens && !streams.enter(bearer)) return tooMany(message);
    const handler = createMcpHandler(() => buildServer(shared, caller), {
      legacy: 'reject',
      bus: { publish: () => undefined, subscribe: (listener) => listen(caller, listener, () => void handler.close()) },
    });
    serving.add(handler);
    const response = await handler.fetch(request, { parsedBody: message });
    return whenDone(response, () => {
      serving.delete(handler);
      if (listens) streams.leave(bearer);
    });
  }

  /**
   * Called once per stream, after the client got the list of notifications that it will receive. Ends the stream when the token expires or
   * nothing is left to watch.
   */
  function listen(caller: McpCaller, listener: (event: ServerEvent) => void, end: () => void): () => void {
    const { expiresAt } = caller.bearer;
    const expires = setTimeout(end, Math.min(expiresAt - Date.now(), MAX_TIMER_MS));
    expires.unref();
    const stop = watchTools(caller, (change) => {
      if (change === 'ended') end();
      else listener({ kind: `${change}_list_changed` });
    });
    return () => {
      clearTimeout(expires);
      stop();
    };
  }

  return {
    async fetch(request, bearer, exchange) {
      if (request.method !== 'POST') return withoutBody(request, bearer);
      const read = await readMessage(request);
      if (read.kind === 'rejected') return read.response;
      return isOf2025(request, read.message)
        ? sessions.fetch(request, bearer, read.message, exchange)
        : serve2026(request, bearer, read.message, exchange);
    },
    async close() {
      shared.stop();
      await Promise.all([sessions.close(), ...[...serving].map((handler) => handler.close())]);
      await shared.owed.handOver();
    },
  };

  /** Sessions of 2025 listen with GET and end with DELETE. A client without a session may only POST. */
  async function withoutBody(request: Request, bearer: McpBearer): Promise<Response> {
    const isOfSession = request.method === 'GET' || request.method === 'DELETE';
    if (isOfSession && request.headers.has('mcp-session-id')) return sessions.fetch(request, bearer, undefined);
    return rejectMessage(405, RPC.transport, 'Only POST is taken here.', { headers: { allow: 'POST' } });
  }
}

async function checkHeadersOfTool(
  shared: McpShared,
  caller: McpCaller,
  message: JsonRpcMessage,
  headers: Headers,
): Promise<Response | undefined> {
  const { method, params } = message;
  if (method !== 'tools/call' || !isJsonObject(params) || typeof params['name'] !== 'string') return undefined;
  const tool = (await shared.knownToolsOf(caller)).find(params['name']);
  return tool === undefined ? undefined : checkParamHeaders(tool.shown.inputSchema, message, headers);
}

function tooMany(message: JsonRpcMessage): Response {
  const text = 'You listen on too many streams; close one.';
  return rejectMessage(429, RPC.busy, text, { id: idOf(message), headers: { 'retry-after': '60' } });
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

/** Counts the streams that each bearer listens on. */
interface StreamCount {
  /** False if the bearer already has the max number of streams. */
  enter(bearer: McpBearer): boolean;
  leave(bearer: McpBearer): void;
}

function createStreamCount(max: number): StreamCount {
  const open = new Map<string, number>();
  return {
    enter({ id }) {
      const count = open.get(id) ?? 0;
      if (count >= max) return false;
      open.set(id, count + 1);
      return true;
    },
    leave({ id }) {
      const count = open.get(id) ?? 0;
      if (count <= 1) open.delete(id);
      else open.set(id, count - 1);
    },
  };
}
