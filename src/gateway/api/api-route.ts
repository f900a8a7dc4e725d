import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { planeError } from '../../domain/errors/errors.ts';
import { TOKEN_SCOPES, type TokenScope } from '../../domain/identity/gateway-token.ts';
import { escapeHidden } from '../../base/escape-text.ts';
import type { LiveFeed } from '../follow/live-feed.ts';
import type { SettledHistory } from '../follow/settled-history.ts';
import type { GatewayPlane } from '../gateway-plane.ts';
import type { GatewayEnv } from '../http/gateway-env.ts';
import { requireScope } from '../http/require-scope.ts';
import type { IsRequester } from '../requesters.ts';
import { problemSchema } from './problem-schema.ts';
import { startOf } from '../../base/cut-text.ts';

export type Api = OpenAPIHono<GatewayEnv>;
export type ApiContext = Context<GatewayEnv>;

/** What all routes share: the plane, and objects that exist once per gateway. */
export interface ApiNeeds {
  readonly plane: GatewayPlane;
  readonly history: SettledHistory;
  readonly feed: LiveFeed;
  /** Whether a bearer is the requester of the call that a question is about. */
  readonly isRequester: IsRequester;
}

export const EVERY_SCOPE = TOKEN_SCOPES;

const emptyObject = z.strictObject({});

interface RouteSpec<
  Query extends z.ZodObject,
  Params extends z.ZodObject,
  Headers extends z.ZodObject,
  Body extends z.ZodType,
> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  /** A bearer needs one of these scopes. An admin has all but `agent`. */
  readonly scopes: readonly [TokenScope, ...TokenScope[]];
  readonly summary: string;
  readonly tag: string;
  readonly query?: Query;
  readonly params?: Params;
  readonly headers?: Headers;
  readonly body?: Body;
  /** Responses by status. A response without a schema has no body. */
  readonly answers: Readonly<Record<number, ResponseSpec>>;
  /** Statuses of problems that only this route has. */
  readonly problems?: readonly number[];
}

export interface ResponseSpec {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** The media type of the response. Default: JSON. */
  readonly mediaType?: string;
}

interface Given<Query, Params, Headers, Body> {
  readonly query: Query;
  readonly params: Params;
  readonly headers: Headers;
  readonly body: Body;
}

/** Statuses that every route can answer with, in addition to those it names. */
const USUAL_PROBLEMS = [400, 401, 403, 429, 503] as const;

/**
 * Adds one route. Its scopes are checked before anything else of the request is read. The schemas that check its parts also make the
 * OpenAPI document.
 */
export function addRoute<
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Headers extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
>(
  api: Api,
  spec: RouteSpec<Query, Params, Headers, Body>,
  handle: (
    context: ApiContext,
    given: Given<z.output<Query>, z.output<Params>, z.output<Headers>, z.output<Body>>,
  ) => Promise<Response> | Response,
): void {
  const { method, path, scopes, summary, tag, query, params, headers, body } = spec;
  const route = createRoute({
    method,
    path,
    summary,
    tags: [tag],
    description: `Scope: ${scopes.join(' or ')}.`,
    security: [{ bearer: [] }, { console: [] }],
    'x-scopes': [...scopes],
    middleware: [requireScope(...scopes)] as never,
    request: {
      // Without a schema every query would be accepted, and a misspelled filter would filter nothing.
      query: query ?? emptyObject,
      ...(params === undefined ? {} : { params }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: { ...answersOf(spec.answers), ...problemsOf([...USUAL_PROBLEMS, ...(spec.problems ?? [])]) },
  });
  const validated = (context: Context, part: string): never => (context.req as never as Valid).valid(part) as never;
  api.openapi(route, ((context: ApiContext) =>
    handle(context, {
      query: validated(context, 'query'),
      params: params === undefined ? (undefined as never) : validated(context, 'param'),
      headers: headers === undefined ? (undefined as never) : validated(context, 'header'),
      body: body === undefined ? (undefined as never) : validated(context, 'json'),
    })) as never);
}

interface Valid {
  valid(part: string): unknown;
}

function answersOf(answers: Readonly<Record<number, ResponseSpec>>): Record<number, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, mediaType = 'application/json' }]) => [
      status,
      schema === undefined ? { description } : { description, content: { [mediaType]: { schema } } },
    ]),
  );
}

function problemsOf(statuses: readonly number[]): Record<number, object> {
  const answer = { description: 'A problem.', content: { 'application/problem+json': { schema: problemSchema } } };
  return Object.fromEntries(statuses.map((status) => [status, answer]));
}

const MAX_PROBLEMS = 8;
const MAX_PROBLEM_LENGTH = 200;

/**
 * Creates an app that refuses a request that does not match its schemas with PARAMETER_INVALID. The problem names the place and what was
 * expected there, but does not repeat the value.
 */
export function newApi(): Api {
  return new OpenAPIHono<GatewayEnv>({
    defaultHook: (result) => {
      if (result.success) return;
      const problems = result.error.issues.flatMap((issue) => {
        const place = [result.target, ...issue.path.map(String)].join('.');
        return [`${place}: ${issue.message}`];
      });
      throw planeError('PARAMETER_INVALID', {
        problems: problems.slice(0, MAX_PROBLEMS).map((text) => escapeHidden(cut(text))),
      });
    },
  });
}

function cut(text: string): string {
  return text.length <= MAX_PROBLEM_LENGTH ? text : `${startOf(text, MAX_PROBLEM_LENGTH)}…`;
}

/** Returns the object without the members that are undefined. */
export function defined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<Value>;
}

type Defined<Value> = { [Name in keyof Value]: Exclude<Value[Name], undefined> };
