import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { planeError } from '../domain/errors/errors.ts';
import { randomId } from '../domain/identity/new-id.ts';
import type { GatewayPlane } from './gateway-plane.ts';
import { createAccessLog } from './http/access-log.ts';
import { createAuthenticator } from './http/authenticate.ts';
import { cutOnBodyError } from './http/cut-on-body-error.ts';
import { createTrustedProxies } from './http/client-address.ts';
import { createApp, type GatewayParts } from './http/create-app.ts';
import { FailureBudget } from './http/failure-budget.ts';
import { createGuard, type Guard } from './http/guard.ts';
import { createHttpServer, listen, sendProblem } from './http/http-server.ts';
import { trackInFlight } from './http/in-flight.ts';
import { RateLimit } from './http/rate-limit.ts';
import { factsOf, keepFacts } from './http/request-facts.ts';
import { setSecurityHeaders } from './http/security-headers.ts';

export interface ServedGateway {
  /** The address at which people and programs reach the gateway, e.g. `http://127.0.0.1:7411`. */
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, ends event streams, and waits for answers that are under way. */
  close(): Promise<void>;
}

export interface ServeOptions extends GatewayParts {
  readonly plane: GatewayPlane;
  /** 0 picks a free port. */
  readonly port: number;
  /** How many following ports are tried if the port is taken. */
  readonly morePorts?: number;
}

/** How long `close` waits for answers under way (ANSWER_MS), and then for the streams that closing MCP ends (GRACE_MS). */
const ANSWER_MS = 5000;
const GRACE_MS = 5000;

/** Serves everything on one listener, behind one guard: API, MCP endpoint, metrics and console. */
export async function serveGateway(options: ServeOptions): Promise<ServedGateway> {
  const { plane } = options;
  const { log } = plane;
  const { http } = plane.config.gateway;
  const inFlight = trackInFlight({ maxPerBearer: Math.ceil(http.connections / 2) });
  const authenticator = createAuthenticator(plane.store, ({ id }) => {
    plane.sessions.close(id).catch((error: unknown) => log.warn({ error }, 'a session could not be revoked'));
  });
  inFlight.watch(authenticator);
  const accessLog = createAccessLog(log, inFlight);
  const app = createApp(options, {
    authenticator,
    inFlight,
    accessLog,
    tokens: plane.store,
    log,
    failures: new FailureBudget(
      new RateLimit({ perSecond: http.rate.failuresPerMinute / 60, burst: http.rate.failuresPerMinute }),
    ),
    strangers: { max: Math.ceil(http.connections / 2), maxPerAddress: Math.ceil(http.connections / 4) },
    requests: new RateLimit({ perSecond: http.rate.perSecond, burst: http.rate.burst }),
  });

  const handle = getRequestListener(
    async (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const response = await app.fetch(request, env);
      return cutOnBodyError(response, (error) => {
        if (!outgoing.destroyed) accessLog.failed(incoming, { error, ...factsOf(incoming) }, 'an answer broke off');
        outgoing.destroy();
      });
    },
    { overrideGlobalObjects: false },
  );
  let isDraining = false;

  function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    setSecurityHeaders(outgoing);
    const cameAt = performance.now();
    const requestId = randomId();
    outgoing.setHeader('sallyport-request', requestId);
    const verdict = guard(incoming);
    const address = verdict.kind === 'admitted' ? verdict.request.address : verdict.address;
    const facts = { requestId, address, cameAt };
    // Must come before `inFlight.add`: its close listener forgets the owner of the request, and the log line names that owner.
    accessLog.follow(incoming, outgoing, facts);
    inFlight.add(incoming, outgoing);
    if (verdict.kind === 'refused') return sendProblem(incoming, outgoing, verdict.error);
    if (isDraining) return sendProblem(incoming, outgoing, planeError('GATEWAY_DRAINING', {}));
    keepFacts(incoming, facts);
    void handle(incoming, outgoing);
  }

  const isProven = (incoming: IncomingMessage): boolean => inFlight.ownerOf(incoming) !== undefined;
  const server = createHttpServer({ max: http.connections, isProven, writeStallMs: http.writeStallMs }, serve);
  const { host } = http;
  const port = await listen(server, { host, port: options.port, more: options.morePorts ?? 0 });
  // The guard needs the port, which is known only now. No request is read before this point.
  const guard: Guard = createGuard({
    port,
    host,
    hosts: http.hosts ?? [],
    origins: http.origins ?? [],
    isTrustedProxy: createTrustedProxies(http.trustedProxies ?? []),
  });

  return {
    url: `http://${shownHost(host)}:${port}`,
    port,
    async close() {
      isDraining = true;
      inFlight.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await inFlight.drain(ANSWER_MS);
      // MCP streams wait for notifications and never end by themselves, so they are closed here.
      await options.mcp?.close();
      await inFlight.drain(GRACE_MS);
      server.closeAllConnections();
      await closed;
      accessLog.close();
    },
  };
}

/**
 * The host to print in the URL. `0.0.0.0` and `::` mean that the gateway listens on all addresses. The person who reads the URL is on this
 * machine, so the URL then names loopback.
 */
function shownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
