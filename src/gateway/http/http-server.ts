import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { planeError, type PlaneError } from '../../domain/errors.ts';
import { serveInTurn } from '../../http/serve-in-turn.ts';
import { problemHeaders, problemOf } from '../problem.ts';
import { limitConnections, type ConnectionSettings } from './connections.ts';
import { mustClose } from './request-facts.ts';

const HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** Until a request has arrived whole. Answers may take as long as they need, so streams are not affected. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const CHECK_TIMEOUTS_MS = 1000;
const MAX_REQUESTS_PER_SOCKET = 10_000;

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Bodies whose senders wait to be asked for them, as large ones do: a refused request then never sends its body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

export function askForBody(incoming: IncomingMessage): void {
  waiting.get(incoming)?.writeContinue();
  waiting.delete(incoming);
}

/** A server that slow, huge and broken requests cannot hurt: each has a limit, and each limit its own answer. */
export function createHttpServer(settings: ConnectionSettings, listener: RequestListener): Server {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
    // The guard does: with an answer of its own.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // Of more it would silently drop the rest, which may be what the guard looks for. Their size is bounded.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  const connections = limitConnections(server, settings);
  const serve = serveInTurn((incoming, outgoing) => {
    connections.begin(incoming, outgoing);
    listener(incoming, outgoing);
  });
  server.on('request', serve);
  server.on('checkContinue', (incoming, outgoing) => {
    waiting.set(incoming, outgoing);
    serve(incoming, outgoing);
  });
  // Node would answer an expectation that it does not know at once, past the turn of its request. Servers may ignore it.
  server.on('checkExpectation', serve);
  server.on('clientError', (error: NodeJS.ErrnoException, given) => {
    const socket = given as Socket;
    // Written now, a refusal would be read as the answer to the request before, or stand in the middle of it.
    if (connections.canRefuse(socket)) answerBroken(error, socket);
    else socket.destroy();
  });
  return server;
}

/** What the parser could not make a request of. */
function answerBroken({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(errorOfParser(code));
  const headers = Object.entries({ ...problemHeaders(problem), connection: 'close' });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function errorOfParser(code: string | undefined): PlaneError {
  if (code === 'HPE_HEADER_OVERFLOW') return planeError('HTTP_HEADERS_TOO_LARGE', { limit: HEADER_BYTES });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return planeError('HTTP_TOO_SLOW', {});
  return planeError('HTTP_REQUEST_INVALID', { problem: 'it is not HTTP/1.1' });
}

/** Answers without the framework, and lets go of a body that nobody will read. */
export function sendProblem(incoming: IncomingMessage, outgoing: ServerResponse, error: unknown): void {
  const problem = problemOf(error);
  const body = JSON.stringify(problem);
  outgoing.writeHead(problem.status, {
    ...problemHeaders(problem),
    'content-length': Buffer.byteLength(body),
    ...(mustClose(incoming) ? { connection: 'close' } : {}),
  });
  outgoing.end(incoming.method === 'HEAD' ? undefined : body);
}

/** Tries the next ports when the first one is taken, as often as `more` says. */
export async function listen(
  server: Server,
  { host, port, more = 0 }: { readonly host: string; readonly port: number; readonly more?: number },
): Promise<number> {
  try {
    await listenOnce(server, host, port);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isTaken || more === 0) throw error;
    return listen(server, { host, port: port + 1, more: more - 1 });
  }
  return (server.address() as AddressInfo).port;
}

function listenOnce(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
