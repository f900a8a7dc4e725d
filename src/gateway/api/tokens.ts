import { z } from '@hono/zod-openapi';
import { planeError } from '../../domain/errors/errors.ts';
import { TOKEN_LIMITS, type GatewayToken } from '../../domain/identity/gateway-token.ts';
import { newTokenText } from '../../domain/identity/token-text.ts';
import { warnOfUndeclared } from '../../domain/identity/undeclared-agent.ts';
import { actorOf } from '../actor-of.ts';
import { checkScope } from '../http/require-scope.ts';
import { listShownTokens } from '../shown-tokens.ts';
import { addRoute, defined, EVERY_SCOPE, type Api, type ApiNeeds } from './api-route.ts';
import { pageByCount } from './cursor.ts';
import { PAGE_LIMITS } from './page-schema.ts';
import {
  madeTokenSchema,
  meSchema,
  newTokenSchema,
  tokenListQuery,
  tokenPageSchema,
  type MadeToken,
  type MeView,
  type TokenView,
} from './token-schema.ts';

export function addMe(api: Api, { plane }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/me',
      scopes: EVERY_SCOPE,
      tag: 'tokens',
      summary: 'Who the bearer of this request is, and what it may do',
      answers: { 200: { description: 'Who you are.', schema: meSchema } },
    },
    (context) => {
      const { name, scopes, identity, decidesAs, unattended, expiresAt } = context.get('auth');
      const me: MeView = {
        name,
        scopes: [...scopes],
        ...(identity === undefined ? {} : { identity }),
        ...(decidesAs === undefined ? {} : { decidesAs }),
        ...(unattended === undefined ? {} : { unattended }),
        expiresAt,
        gatewayId: plane.gatewayId,
        release: plane.operations.release,
      };
      return context.json(me);
    },
  );
}

const TAG = 'tokens';

export function addTokens(api: Api, { plane: { store } }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/tokens',
      scopes: ['admin'],
      tag: TAG,
      summary:
        'Tokens of the gateway, the newest first; never their secrets, and no login links that were used or have expired',
      query: tokenListQuery,
      answers: { 200: { description: 'A page of them.', schema: tokenPageSchema } },
    },
    async (context, { query: { limit = PAGE_LIMITS.usual, cursor } }) => {
      const page = await pageByCount('tokens', {}, { cursor, limit }, (count) => listShownTokens(store, count));
      return context.json({ ...page, items: page.items.map(showToken) });
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/tokens',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Make a token; its text is shown once',
      body: newTokenSchema,
      answers: { 201: { description: 'It can be used.', schema: madeTokenSchema } },
      problems: [409],
    },
    async (context, { body }) => {
      const { name, scopes, identity, decidesAs, unattended, lifetimeMs = TOKEN_LIMITS.defaultLifetimeMs } = body;
      // A bearer cannot give a token more scopes than it has itself. The exception is `agent`: an admin may give it, for any identity,
      // without having it.
      for (const scope of scopes) if (scope !== 'agent') checkScope(context.get('auth'), scope);
      const { id, text, secretDigest } = newTokenText();
      const token = {
        id,
        name,
        scopes,
        ...(identity === undefined ? {} : { identity: { tenant: 'default', ...defined(identity) } }),
        ...(decidesAs === undefined ? {} : { decidesAs }),
        ...(unattended === undefined ? {} : { unattended }),
      };
      const actor = actorOf(context.get('auth'));
      const made = await store.createToken({ token, secretDigest, lifetimeMs, actor });
      if (made.kind === 'full') throw planeError('TOKENS_FULL', { most: TOKEN_LIMITS.maxTokens });
      const { identity: named } = made.token;
      const warnings = named === undefined ? [] : warnOfUndeclared((await store.readPolicy()).policy, named);
      const answer: MadeToken = { token: showToken(made.token), text, warnings };
      return context.json(answer, 201, { 'cache-control': 'no-store' });
    },
  );

  addRoute(
    api,
    {
      method: 'delete',
      path: '/tokens/{id}',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Revoke a token, with all sessions that were opened with it',
      params: z.strictObject({ id: z.string().max(256) }),
      answers: { 204: { description: 'It is revoked, and so are its sessions in every lane.' } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const actor = actorOf(context.get('auth'));
      const answer = /^[a-z2-7]{16}$/.test(id) ? await store.revokeToken({ id, actor }) : 'unknown';
      if (answer === 'unknown') throw planeError('TOKEN_UNKNOWN', { token: id.slice(0, 64) });
      return context.body(null, 204);
    },
  );
}

function showToken({
  id,
  name,
  scopes,
  identity,
  decidesAs,
  unattended,
  purpose,
  createdAt,
  expiresAt,
  revokedAt,
}: GatewayToken): TokenView {
  return {
    id,
    name,
    scopes: [...scopes],
    ...(identity === undefined ? {} : { identity }),
    ...(decidesAs === undefined ? {} : { decidesAs }),
    ...(unattended === undefined ? {} : { unattended }),
    ...(purpose === undefined ? {} : { purpose }),
    createdAt,
    expiresAt,
    ...(revokedAt === undefined ? {} : { revokedAt }),
  };
}
