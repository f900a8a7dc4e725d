import { WebStandardStreamableHTTPServerTransport, type Server } from '@modelcontextprotocol/server';
import { randomId } from '../../domain/identity/new-id.ts';
import { buildServer } from './build-server.ts';
import {
  cancelledBy,
  ID_IS_OPEN,
  idOf,
  rejectMessage,
  requestIdOf,
  RPC,
  type JsonRpcId,
  type JsonRpcMessage,
} from './json-rpc.ts';
import type { McpShared } from './mcp-shared.ts';
import type { McpBearer } from './mcp-plane.ts';
import type { Exchange } from './owed-request.ts';
import { OvertakenRequests } from './overtaken-requests.ts';
import type { ToolChange, WatchTools } from './tool-changes.ts';
import { whenDone } from './when-done.ts';

interface LiveSession {
  readonly id: string;
  readonly bearerId: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests that have no answer yet. At any time, an id names only one of them. */
  readonly open: Map<JsonRpcId, Exchange | undefined>;
  readonly overtaken: OvertakenRequests;
  readonly subscriptions: ReadonlySet<string>;
  expires: NodeJS.Timeout;
  close(): void;
}

/** Sessions of the revision 2025-11-25. A session id is a handle and proves nothing: it works only for the bearer that it was given to. */
export interface SessionsOf2025 {
  fetch(
    request: Request,
    bearer: McpBearer,
    message: JsonRpcMessage | undefined,
    exchange?: Exchange,
  ): Promise<Response>;
  close(): Promise<void>;
}

const SESSION_HEADER = 'mcp-session-id';

export function createSessionsOf2025(shared: McpShared, watchTools: WatchTools): SessionsOf2025 {
  const { sessionIdleMs, sessionsPerBearer } = shared.plane.config.gateway.mcp;
  const sessions = new Map<string, LiveSession>();

  const touch = (session: LiveSession): void => void session.expires.refresh();

  /** Ends the run of a session. Each session has its own run, which ends with the session. */
  function endRun(bearerId: string, runName: string): void {
    const { sessions: ofBearers, log } = shared.plane;
    ofBearers.endRun?.(bearerId, runName).catch((error: unknown) => log.warn({ error }, 'a run could not be ended'));
  }

  async function open(bearer: McpBearer): Promise<LiveSession | undefined> {
    const own = [...sessions.values()].filter(({ bearerId }) => bearerId === bearer.id);
    if (own.length >= sessionsPerBearer) return undefined;
    const id = randomId() + randomId();
    const subscriptions = new Set<string>();
    const open: LiveSession['open'] = new Map();
    const exchange = (requestId: JsonRpcId): Exchange | undefined => open.get(requestId);
    const server = buildServer(shared, { bearer, era: '2025', runName: id, subscriptions, exchange });
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const close = (): void => {
      const isFirst = sessions.delete(id);
      clearTimeout(session.expires);
      void server.close().catch(() => undefined);
      if (isFirst && !shared.isStopping()) endRun(bearer.id, id);
    };
    const expires = setTimeout(close, sessionIdleMs);
    expires.unref();
    const session: LiveSession = {
      id,
      bearerId: bearer.id,
      transport,
      server,
      open,
      overtaken: new OvertakenRequests(),
      subscriptions,
      expires,
      close,
    };
    server.onclose = close;
    await server.connect(transport);
    watchAnswers(session);
    sessions.set(id, session);
    return session;
  }

  async function initialize(request: Request, bearer: McpBearer, message: JsonRpcMessage): Promise<Response> {
    const session = await open(bearer);
    if (session === undefined) {
      return rejectMessage(429, RPC.busy, `You have ${sessionsPerBearer} sessions open; end one.`, {
        id: idOf(message),
        headers: { 'retry-after': '60' },
      });
    }
    const response = await session.transport.handleRequest(request, { parsedBody: message });
    if (!response.ok) session.close();
    return response;
  }

  /** Notifies the client of changed tools, resources and prompts while it listens. A session with an open stream does not become idle. */
  function listen(session: LiveSession, bearer: McpBearer, response: Response): Response {
    const caller = { bearer, era: '2025', runName: session.id } as const;
    const stop = watchTools(caller, (change) => {
      if (change === 'ended') return session.close();
      for (const sent of notifyClient(session, change)) sent.catch(() => undefined);
    });
    const inUse = setInterval(() => touch(session), sessionIdleMs / 2);
    inUse.unref();
    return whenDone(response, () => {
      clearInterval(inUse);
      stop();
    });
  }

  return {
    async fetch(request, bearer, message, exchange) {
      const id = request.headers.get(SESSION_HEADER);
      if (id === null) {
        if (message?.['method'] === 'initialize') return initialize(request, bearer, message);
        const problem = 'Mcp-Session-Id is missing. A session begins with initialize.';
        return rejectMessage(400, RPC.transport, problem, { id: idOf(message) });
      }
      const session = sessions.get(id);
      // A session of another bearer, an ended session and an unknown id all get the same answer, so a guessed id reveals nothing.
      if (session === undefined || session.bearerId !== bearer.id)
        return rejectMessage(404, RPC.sessionNotFound, 'Session not found.', { id: idOf(message) });
      touch(session);
      const asked = requestIdOf(message);
      if (asked !== undefined) {
        if (session.open.has(asked)) return rejectMessage(400, RPC.invalidRequest, ID_IS_OPEN, { id: asked });
        if (session.overtaken.take(asked))
          return rejectMessage(400, RPC.invalidRequest, 'id: this request was cancelled before it came.', {
            id: asked,
          });
        session.open.set(asked, exchange);
      } else {
        const named = cancelledBy(message);
        if (named !== undefined && !session.open.has(named)) session.overtaken.add(named);
      }
      const response = await session.transport.handleRequest(request, { parsedBody: message });
      if (asked !== undefined && !response.ok) session.open.delete(asked);
      return request.method === 'GET' && response.ok ? listen(session, bearer, response) : response;
    },
    async close() {
      for (const session of sessions.values()) session.close();
    },
  };
}

function notifyClient({ server, subscriptions }: LiveSession, change: Exclude<ToolChange, 'ended'>): Promise<void>[] {
  if (change === 'tools') return [server.sendToolListChanged()];
  if (change === 'prompts') return [server.sendPromptListChanged()];
  return [server.sendResourceListChanged(), ...[...subscriptions].map((uri) => server.sendResourceUpdated({ uri }))];
}

function watchAnswers({ transport, open, expires }: LiveSession): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    expires.refresh();
    const id = idOf(message);
    if (id !== null && !('method' in message)) open.delete(id);
    return send(message, options);
  };
}
