import { Hono } from 'hono';
import { planeError } from '../../domain/errors/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { TokenStore } from '../../domain/ports/token-store.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { actorOf } from '../actor-of.ts';
import { readBearer } from '../bearer.ts';
import { CONSOLE_LIFETIME_MS, redeemLoginCode } from '../login-link.ts';
import { authenticatedBy, type Authenticator } from './authenticate.ts';
import { addressKey } from './client-address.ts';
import { checkConsoleChange, EXPIRED_COOKIE, readCookie, writeCookie } from './console-request.ts';
import type { FailureBudget } from './failure-budget.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { createLoginRefusals } from './login-refusals.ts';
import { strictJsonBody } from './read-body.ts';
import { hasScope } from './require-scope.ts';

export interface LoginNeeds {
  readonly tokens: TokenStore;
  readonly authenticator: Authenticator;
  readonly failures: FailureBudget;
  readonly log: Log;
}

/**
 * Max bytes of a login body, which holds only a code or a token. The body is read before anything is proved, so an attacker could send as
 * many bodies at once as there are sockets.
 */
const LOGIN_BYTES = 4096;

interface LoggedIn {
  readonly cookie: string;
  readonly id: string;
  readonly name: string;
}

/** `POST /v1/login` and `POST /v1/logout`: the only routes of the API without a token. */
export function createLogin(needs: LoginNeeds): Hono<GatewayEnv> {
  const { tokens, authenticator, failures, log } = needs;
  const refusals = createLoginRefusals(tokens, log);
  const login = new Hono<GatewayEnv>();

  login.post('/v1/login', strictJsonBody(LOGIN_BYTES), async (context) => {
    const { headers } = context.env.incoming;
    checkConsoleChange(headers);
    if (!keepsSecureCookies(headers.origin ?? '')) {
      throw planeError('CONSOLE_REQUEST_REFUSED', {
        problem: 'a browser keeps the login only over https, or on the machine of the gateway itself',
      });
    }
    const given = await readLogin(() => context.req.json<unknown>());
    const address = context.get('address');
    const loggedIn = await failures.prove(addressKey(address), () => logIn(given, address));
    if (loggedIn === undefined) {
      await refusals.record(given.kind, address);
      throw planeError('LOGIN_REFUSED', {});
    }
    const { id, name, cookie } = loggedIn;
    log.info({ tokenId: id, name, address }, 'logged in to the console');
    return context.body(null, 204, { 'set-cookie': cookie });
  });

  login.post('/v1/logout', async (context) => {
    const { headers } = context.env.incoming;
    checkConsoleChange(headers);
    const cookie = readCookie(headers.cookie);
    const bearer = cookie && readBearer(cookie.text);
    // Only a client that knows the token's secret may revoke it.
    const auth = cookie && (await authenticator.prove(cookie.text));
    if (cookie?.madeForLogin === true && auth !== undefined && bearer?.kind === 'token') {
      await tokens.revokeToken({ id: bearer.id, actor: actorOf({ ...auth, via: 'cookie' }) });
      authenticator.forget(cookie.text);
    }
    return context.body(null, 204, { 'set-cookie': EXPIRED_COOKIE });
  });

  async function logIn(given: LoginRequest, address: string): Promise<LoggedIn | undefined> {
    if (given.kind === 'code') {
      const made = await redeemLoginCode(tokens, given.text);
      if (made === undefined) return undefined;
      const cookie = writeCookie({ text: made.text, madeForLogin: true }, CONSOLE_LIFETIME_MS);
      return { cookie, id: made.token.id, name: made.token.name };
    }
    const bearer = readBearer(given.text);
    const token = bearer?.kind === 'token' ? await tokens.proveToken(bearer) : undefined;
    if (token === undefined) return undefined;
    // The cookie holds this token and no new one, so that revoking the token also ends the login. The token needs one of these scopes.
    const needed = ['operator', 'approver', 'admin'] as const;
    if (!hasScope(authenticatedBy(token), ...needed)) throw planeError('SCOPE_MISSING', { needed: [...needed] });
    const actor = actorOf({ ...authenticatedBy(token), via: 'cookie' });
    // Record the login before the cookie is made: a login that cannot be recorded does not happen.
    await tokens.recordLogin({ outcome: 'succeeded', attempt: randomId(), token, actor, detail: `from ${address}` });
    const cookie = writeCookie({ text: given.text, madeForLogin: false }, CONSOLE_LIFETIME_MS);
    return { cookie, id: token.id, name: token.name };
  }

  return login;
}

interface LoginRequest {
  readonly kind: 'code' | 'token';
  readonly text: string;
}

const MAX_LENGTH = 200;

async function readLogin(read: () => Promise<unknown>): Promise<LoginRequest> {
  const body = await read().catch(() => undefined);
  const entries = isJsonObject(body) ? Object.entries(body) : [];
  const [[kind, text] = []] = entries;
  if (entries.length === 1 && (kind === 'code' || kind === 'token') && typeof text === 'string') {
    return { kind, text: text.slice(0, MAX_LENGTH) };
  }
  throw planeError('PARAMETER_INVALID', { problems: ['exactly one of code and token is expected, as text'] });
}

function keepsSecureCookies(origin: string): boolean {
  return origin.startsWith('https://') || /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(origin);
}
