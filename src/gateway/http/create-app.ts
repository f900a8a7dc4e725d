import { Hono, type Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { planeError, type PlaneError, type PlaneErrorCode } from '../../domain/errors/errors.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { TokenStore } from '../../domain/ports/token-store.ts';
import type { Authenticated } from '../authenticated.ts';
import { problemOf, problemResponse } from '../problem.ts';
import type { AccessLog } from './access-log.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { createLogin } from './login.ts';
import { readJsonBytes, strictJsonBody } from './read-body.ts';
import { factsOf, mustClose } from './request-facts.ts';
import { requireScope } from './require-scope.ts';
import { requireToken, type TokenNeeds } from './require-token.ts';
import { createStaticConsole } from './static-console.ts';
import { limitStrangers, type StrangerSettings } from './strangers.ts';
import { whenSent } from './when-sent.ts';

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** Parts that are built elsewhere. This server only routes requests to them. */
export interface GatewayParts {
  /** The API below /v1. If absent, there is no API. */
  readonly api?: Hono<GatewayEnv> | undefined;
  /** Returns the document that /openapi.json serves. */
  readonly openapi?: (() => object) | undefined;
  readonly mcp?: McpEndpoint | undefined;
  readonly metricsText?: (() => Promise<string>) | undefined;
  readonly consoleFolder?: string | undefined;
  readonly readiness: () => Readiness;
}

/** A request and the end of its response: whether all of it was written, or its connection ended first. */
export interface Exchange {
  /** When the request arrived, by `performance.now()`. */
  readonly cameAt: number;
  readonly sent: Promise<'finished' | 'closed'>;
}

export interface McpEndpoint {
  fetch(request: Request, auth: Authenticated, exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
}

export type AppNeeds = TokenNeeds & {
  readonly tokens: TokenStore;
  readonly log: Log;
  readonly accessLog: Pick<AccessLog, 'failed'>;
  /** Limits of concurrent requests that are answered without a token. */
  readonly strangers: Pick<StrangerSettings, 'max' | 'maxPerAddress'>;
};

/** Refusals that a healthy gateway gives. They are not logged as failures: the access log line already has their status. */
const EXPECTED: ReadonlySet<string> = new Set(['GATEWAY_BUSY', 'GATEWAY_DRAINING'] satisfies PlaneErrorCode[]);

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Adds all routes. A route needs a token unless it is listed here without one. */
export function createApp(parts: GatewayParts, needs: AppNeeds): Hono<GatewayEnv> {
  const app = new Hono<GatewayEnv>();
  const withToken = requireToken(needs);

  app.use('*', async (context, next) => {
    const { requestId, address } = factsOf(context.env.incoming);
    context.set('requestId', requestId);
    context.set('address', address);
    await next();
    // The framework answers HEAD as GET without the body. A stream that no client reads would never end, so it is cancelled.
    if (context.req.method === 'HEAD') await context.res.body?.cancel();
  });

  app.get('/healthz', (context) => context.json({ status: 'alive' }));
  app.get('/readyz', (context) => {
    // The reasons are left out, because they name parts of the plane: only callers with a token and the log get them.
    const { ready } = parts.readiness();
    return context.json({ status: ready ? 'ready' : 'not ready' }, ready ? 200 : 503);
  });
  app.get('/metrics', withToken, requireScope('operator'), async (context) => {
    if (parts.metricsText === undefined) throw planeError('METRICS_OFF', {});
    return context.body(await parts.metricsText(), 200, { 'content-type': METRICS_TYPE });
  });

  const asStranger = limitStrangers({ ...needs.strangers, authenticator: needs.authenticator });
  app.use('/v1/login', asStranger);
  app.use('/v1/logout', asStranger);
  app.route('/', createLogin(needs));
  app.use('/v1/*', withToken, strictJsonBody());
  if (parts.api !== undefined) app.route('/v1', parts.api);
  const { openapi, mcp } = parts;
  if (openapi !== undefined) app.get('/openapi.json', withToken, (context) => context.json(openapi()));
  if (mcp !== undefined) {
    app.on(['GET', 'POST', 'DELETE'], '/mcp', withToken, requireScope('agent'), async (context) => {
      await readJsonBytes(context.env.incoming);
      const { incoming, outgoing } = context.env;
      const sent = new Promise<'finished' | 'closed'>((resolve) => whenSent(incoming, outgoing, resolve));
      return mcp.fetch(context.req.raw, context.get('auth'), { sent, cameAt: factsOf(incoming).cameAt });
    });
  }
  // A request gets here only if no earlier route has answered it.
  app.use('*', asStranger);
  app.route('/', createStaticConsole(parts.consoleFolder));

  app.notFound((context) => {
    const allowed = allowedMethods(app, context.req.path);
    return answer(
      context,
      allowed.length === 0 ? planeError('HTTP_PATH_UNKNOWN', {}) : planeError('HTTP_METHOD_REFUSED', { allowed }),
    );
  });
  app.onError((error, context) => {
    const reported = error instanceof HTTPException ? ofFramework(error) : error;
    const problem = problemOf(reported);
    if (problem.status >= 500 && !EXPECTED.has(problem.code)) {
      needs.accessLog.failed(context.env.incoming, { error, requestId: context.get('requestId') }, 'a request failed');
    }
    return answer(context, reported);
  });
  return app;
}

function answer(context: Context<GatewayEnv>, error: unknown): Response {
  const response = problemResponse(problemOf(error));
  if (mustClose(context.env.incoming)) response.headers.set('connection', 'close');
  return response;
}

/** Maps a refusal of the framework. A 400 of the framework means that the body is not JSON. */
function ofFramework(error: HTTPException): PlaneError {
  return error.status === 400
    ? planeError('HTTP_BODY_INVALID', { problem: 'it is empty or malformed' })
    : planeError('INTERNAL', { problem: 'it failed' }, error);
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The methods that a path has routes for; empty if the path does not exist. Middleware matches every method and does not count. */
function allowedMethods(app: Hono<GatewayEnv>, path: string): string[] {
  const allowed = METHODS.filter((method) => {
    const [handlers] = app.router.match(method, path);
    return handlers.some(([[, route]]) => route.method === method);
  });
  return allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
