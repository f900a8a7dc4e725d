import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { planeError } from '../domain/errors/errors.ts';
import { serveInTurn } from '../base/http/serve-in-turn.ts';
import { TEXT_FORMAT } from '../observe/metrics/meter.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

const QUIET_SOCKET_MS = 10_000;

/**
 * `/healthz`: the process is live. `/readyz`: whether the worker takes calls now, and if not, why. `/metrics`, if switched on: the metrics
 * of the worker. Nothing here needs a token: access to the address is the only protection.
 */
export async function serveHealth(
  address: { readonly host: string; readonly port: number },
  readiness: () => Readiness,
  metrics?: () => Promise<string>,
): Promise<HealthServer> {
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 });
  const serve = serveInTurn((request, response) => {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, { error: 'only GET and HEAD' });
    const path = (request.url ?? '').split('?')[0];
    if (path === '/healthz') return send(200, { status: 'alive' });
    if (path === '/metrics') {
      if (metrics === undefined) return send(404, metricsOff());
      void metrics().then((text) => {
        if (text === '') return send(503, { error: 'the process is too busy to count; try again' });
        response.writeHead(200, { 'content-type': TEXT_FORMAT, 'cache-control': 'no-store' });
        response.end(request.method === 'HEAD' ? undefined : text);
      });
      return;
    }
    if (path !== '/readyz') {
      return send(404, { error: 'try /healthz, /readyz or /metrics' });
    }
    const { ready, reasons, facts } = readiness();
    send(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', reasons, ...facts });
  });
  for (const event of ['request', 'checkExpectation']) server.on(event, serve);
  // Responses take at most some seconds, so a socket without traffic for longer is idle, or its client does not read. It is closed.
  server.timeout = QUIET_SOCKET_MS;
  await listen(server, address);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function metricsOff(): object {
  const { code, message, fix } = planeError('METRICS_OFF', {});
  return { error: message, code, fix };
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
