import { z } from '@hono/zod-openapi';
import { parseScopedId, type RunId, type SessionId } from '../../domain/identity/ids.ts';
import type { Session } from '../../domain/identity/session.ts';
import { actorOf } from '../actor-of.ts';
import type { Authenticated } from '../authenticated.ts';
import { sessionBearer } from '../bearer.ts';
import { hasScope } from '../http/require-scope.ts';
import { openForToken } from '../open-for-token.ts';
import { createProblem, problemResponse } from '../problem.ts';
import { addRoute, defined, type Api, type ApiNeeds } from './api-route.ts';
import { pageByCount } from './cursor.ts';
import { PAGE_LIMITS } from './page-schema.ts';
import {
  openedRunSchema,
  openRunQuery,
  openedSessionSchema,
  openSessionSchema,
  sessionListQuery,
  sessionPageSchema,
  sessionSchema,
  type OpenedSession,
  type SessionView,
} from './session-schema.ts';

const TAG = 'sessions';
const params = z.strictObject({ id: z.string().max(256) });
const runParams = z.strictObject({ id: z.string().max(256), run: z.string().max(256) });

export function addSessions(api: Api, { plane }: ApiNeeds): void {
  const { store, client } = plane;

  addRoute(
    api,
    {
      method: 'post',
      path: '/sessions',
      scopes: ['sessions'],
      tag: TAG,
      summary: 'Open a session for a subject and an agent; its bearer is shown once. It ends when the token is revoked',
      body: openSessionSchema,
      answers: { 201: { description: 'It is open.', schema: openedSessionSchema } },
    },
    async (context, { body }) => {
      const handle = await openForToken(client, store, context.get('auth'), defined(body));
      const { id, run, expiresAt } = handle;
      const opened: OpenedSession = { id, run, bearer: sessionBearer(handle), expiresAt };
      return context.json(opened, 201, { location: `/v1/sessions/${id}`, 'cache-control': 'no-store' });
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/sessions',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Sessions, the last used first',
      query: sessionListQuery,
      answers: { 200: { description: 'A page of them.', schema: sessionPageSchema } },
    },
    async (context, { query: { limit = PAGE_LIMITS.usual, cursor } }) => {
      const page = await pageByCount('sessions', {}, { cursor, limit }, (count) => store.listSessions(count));
      const now = await store.now();
      return context.json({ ...page, items: page.items.map((session) => showSession(session, now)) });
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/sessions/{id}',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'One session; an agent sees its own',
      params,
      answers: { 200: { description: 'The session.', schema: sessionSchema } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const session = await readSession(context.get('auth'), id);
      if (session === undefined) return unknownSession();
      return context.json(showSession(session, await store.now()));
    },
  );

  addRoute(
    api,
    {
      method: 'delete',
      path: '/sessions/{id}',
      scopes: ['operator'],
      tag: TAG,
      summary: 'End a session now, with all that it delegated to; its queued calls are denied',
      params,
      answers: { 204: { description: 'It is revoked.' } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const isId = parseScopedId(id) !== undefined;
      const answer = isId ? await client.revokeSession(id as SessionId, actorOf(context.get('auth'))) : 'unknown';
      return answer === 'unknown' ? unknownSession() : context.body(null, 204);
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/sessions/{id}/touch',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'Push the idle expiry of a session out',
      params,
      answers: { 204: { description: 'It lives on.' } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const session = await readSession(context.get('auth'), id);
      if (session === undefined || (await client.touchSession(session.id)) === 'ended') return unknownSession();
      return context.body(null, 204);
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/sessions/{id}/runs',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'Begin a run in a session; name it in the header Sallyport-Run of its calls',
      params,
      query: openRunQuery,
      answers: { 201: { description: 'It is open.', schema: openedRunSchema } },
      problems: [404, 409],
    },
    async (context, { params: { id }, query }) => {
      const session = await readSession(context.get('auth'), id);
      if (session === undefined) return unknownSession();
      // Opening a run does not need the session's token, which only the bearer has.
      const handle = { id: session.id, token: '', run: '' as RunId, expiresAt: 0 };
      const { run } = await client.openRun(handle, { unattended: query.unattended === 'true' });
      return context.json({ id: session.id, run }, 201);
    },
  );

  addRoute(
    api,
    {
      method: 'delete',
      path: '/sessions/{id}/runs/{run}',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'End a run; its queued calls are denied, the session lives on',
      params: runParams,
      answers: { 204: { description: 'It has ended.' } },
      problems: [404],
    },
    async (context, { params: { id, run } }) => {
      const session = await readSession(context.get('auth'), id);
      if (session === undefined) return unknownSession();
      if (!session.runs.includes(run as RunId)) return unknownRun();
      const auth = context.get('auth');
      // An agent that ends its own run makes no administrative change, so no actor is recorded.
      await client.endRun(session.id, run as RunId, hasScope(auth, 'operator') ? actorOf(auth) : undefined);
      return context.body(null, 204);
    },
  );

  /**
   * Reads a session that this bearer may see. An agent may see only its own session. The session of another bearer gives the same answer as
   * an unknown one.
   */
  async function readSession(auth: Authenticated, id: string): Promise<Session | undefined> {
    if (parseScopedId(id) === undefined) return undefined;
    if (!hasScope(auth, 'operator')) {
      const own = await plane.sessions.handleOf(auth);
      if (own.id !== id) return undefined;
    }
    return store.readSession(id as SessionId);
  }
}

function showSession(session: Session, now: number): SessionView {
  const { id, identity, openedAt, expiresAt, idleMs, lastSeenAt, revoked, runs, injected, openedBy } = session;
  const endsAt = Math.min(expiresAt, lastSeenAt + idleMs);
  const state = revoked ? 'revoked' : endsAt <= now ? 'expired' : 'open';
  return {
    id,
    identity,
    openedAt,
    expiresAt,
    idleMs,
    lastSeenAt,
    state,
    runs: [...runs],
    ...(openedBy === undefined ? {} : { openedBy: { ...openedBy } }),
    ...(injected === undefined ? {} : { injected: injected.map((one) => ({ ...one })) }),
  };
}

function unknownSession(): Response {
  return problemResponse(
    createProblem({ status: 404, code: 'SESSION_UNKNOWN', detail: 'There is no such session, or it has ended.' }),
  );
}

function unknownRun(): Response {
  return problemResponse(createProblem({ status: 404, code: 'RUN_UNKNOWN', detail: 'The session has no such run.' }));
}
