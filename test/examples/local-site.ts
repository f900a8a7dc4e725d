import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalSite {
  readonly port: number;
  /** `127.0.0.1:PORT`, as in the setup of the web module. */
  readonly host: string;
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A real HTTP server on loopback that records the requests that reach it. */
export async function openLocalSite(answer: Answer, address = '127.0.0.1', port = 0): Promise<LocalSite> {
  const requests: LocalSite['requests'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return { port: bound, host: `${address}:${bound}`, requests, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
