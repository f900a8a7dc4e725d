import type { Actor } from '../domain/actor.ts';
import { planeError } from '../domain/errors.ts';
import { TOKEN_LIMITS, type GatewayToken, type TokenScope } from '../domain/gateway-token.ts';
import type { TokenStore } from '../ports/token-store.ts';
import { sha256 } from '../wire/digest.ts';
import { randomId } from '../wire/ids.ts';
import { newTokenText } from '../wire/token-text.ts';
import { newLoginCode, readLoginCode } from './bearer.ts';

/** How long a login link can be used, once. */
export const LOGIN_CODE_MS = 10 * 60 * 1000;
export const CONSOLE_LIFETIME_MS = 12 * 60 * 60 * 1000;

/** What a login may do. Neither calls tools: that needs a token that says for whom. */
export const LOGIN_SCOPES = ['operator', 'approver', 'sessions', 'admin'] as const satisfies readonly TokenScope[];
const DEFAULT_SCOPES: readonly TokenScope[] = ['operator', 'approver', 'admin'];
/** Links that an earlier release made have this name; the logins that come of them are called `console`, as they were. */
const NAMELESS = 'login link';

export interface LoginLinkOptions {
  /** Who logs in. Stands in the audit and in approvals for what they do there. */
  readonly name: string;
  readonly scopes?: readonly TokenScope[];
}

/** The code stands after `#`: browsers send that part to nobody, so it is in no log and in no Referer. */
export async function createLoginLink(
  store: Pick<TokenStore, 'createToken'>,
  url: string,
  actor: Actor,
  { name, scopes = DEFAULT_SCOPES }: LoginLinkOptions,
): Promise<string> {
  const { id, text, secretDigest } = newLoginCode();
  const token = { id, name, scopes, purpose: 'login-link' } as const;
  await create(store, { token, secretDigest, lifetimeMs: LOGIN_CODE_MS, actor });
  return `${url}/login#${text}`;
}

export interface ConsoleToken {
  readonly text: string;
  readonly token: GatewayToken;
}

/** A token for one login, for a code that nobody has used yet; undefined for any other. */
export async function redeemLoginCode(
  store: Pick<TokenStore, 'createToken' | 'proveToken' | 'revokeToken' | 'useOnce'>,
  code: string,
): Promise<ConsoleToken | undefined> {
  const read = readLoginCode(code);
  const link = read && (await store.proveToken(read));
  if (read === undefined || link === undefined) return undefined;
  // Two browsers with the same link: one of them is not who it was made for.
  const use = await store.useOnce({ digest: sha256(code), attempt: randomId(), lifetimeMs: LOGIN_CODE_MS });
  if (use === 'used') return undefined;
  const { id, text, secretDigest } = newTokenText();
  // Who made the link is in the record of the link; who has it now is not known.
  const actor: Actor = { by: 'bearer of a login link', via: 'console', bearer: link.id };
  const token = await create(store, {
    token: { id, name: link.name === NAMELESS ? 'console' : link.name, scopes: link.scopes, purpose: 'login' },
    secretDigest,
    lifetimeMs: CONSOLE_LIFETIME_MS,
    actor,
  });
  // Whoever revoked the link in the meantime wants nobody to log in with it.
  const isLinkGood = (await store.proveToken(read)) !== undefined;
  await store.revokeToken({ id: isLinkGood ? link.id : id, actor });
  return isLinkGood ? { text, token } : undefined;
}

async function create(
  store: Pick<TokenStore, 'createToken'>,
  request: Parameters<TokenStore['createToken']>[0],
): Promise<GatewayToken> {
  const answer = await store.createToken(request);
  if (answer.kind === 'full') throw planeError('TOKENS_FULL', { most: TOKEN_LIMITS.mostTokens });
  return answer.token;
}
