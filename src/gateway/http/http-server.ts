import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import { serveInTurn } from '../../base/http/serve-in-turn.ts';
import { problemHeaders, problemOf } from '../problem.ts';
import { limitConnections, type ConnectionSettings } from './connections.ts';
import { mustClose } from './request-facts.ts';

const HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** Max time until a request has arrived completely. Responses may take as long as they need, so streams are not affected. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const CHECK_TIMEOUTS_MS = 1000;
const MAX_REQUESTS_PER_SOCKET = 10_000;

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Requests whose senders wait for `100 Continue` before they send the body, as is usual for large bodies. A refused request then never
 * sends its body.
 */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

export function askForBody(incoming: IncomingMessage): void {
  waiting.get(incoming)?.writeContinue();
  waiting.delete(incoming);
}

/**
 * Creates a server that slow, huge and broken requests cannot hurt: each of these has a limit, and each limit has its own error response.
 */
export function createHttpServer(settings: ConnectionSettings, listener: RequestListener): Server {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
    // The guard checks the Host header and answers with its own error.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // No limit: above a limit Node would silently drop the remaining headers, which may be those that the guard looks for. Their total size
  // is limited.
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
  // Node would answer a request with an unknown `Expect` header at once, before the answers to earlier requests on the connection. HTTP
  // allows servers to ignore the header, so the request is served like any other.
  server.on('checkExpectation', serve);
  server.on('clientError', (error: NodeJS.ErrnoException, given) => {
    const socket = given as Socket;
    // If `canRefuse` is false, a refusal would be read as the answer to the previous request, or would end up in the middle of that answer.
    if (connections.canRefuse(socket)) answerBroken(error, socket);
    else socket.destroy();
  });
  return server;
}

/** Answers bytes that the parser could not read as a request. */
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

/** Answers without the framework. Closes the connection if the request has a body that was not read. */
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

/** Listens on the port. If it is taken, tries the following ports, at most `more` of them. Returns the port. */
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
