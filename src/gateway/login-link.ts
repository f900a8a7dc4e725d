import type { Actor } from '../domain/identity/actor.ts';
import { planeError } from '../domain/errors/errors.ts';
import { TOKEN_LIMITS, type GatewayToken, type TokenScope } from '../domain/identity/gateway-token.ts';
import type {
  CreateTokenRequest,
  SingleUse,
  TokenIssuing,
  TokenProof,
  TokenRevocation,
} from '../domain/ports/token-store.ts';
import { sha256 } from '../base/sha256.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { newTokenText } from '../domain/identity/token-text.ts';
import { newLoginCode, readLoginCode } from './bearer.ts';

/** How long a login link is valid. It can be used once. */
export const LOGIN_CODE_MS = 10 * 60 * 1000;
export const CONSOLE_LIFETIME_MS = 12 * 60 * 60 * 1000;

/** The scopes that a login may have. None of them allows calling tools: that needs a token that names the identity to call for. */
export const LOGIN_SCOPES = ['operator', 'approver', 'sessions', 'admin'] as const satisfies readonly TokenScope[];
const DEFAULT_SCOPES: readonly TokenScope[] = ['operator', 'approver', 'admin'];
/** The name of links that an earlier release made. Logins from such links are named `console`, as that release named them. */
const NAMELESS = 'login link';

export interface LoginLinkOptions {
  /** The person who logs in. The audit and approvals show this name for what the person does in the console. */
  readonly name: string;
  readonly scopes?: readonly TokenScope[];
}

/** Creates a login link. The code stands after `#`: browsers do not send that part, so it appears in no log and no Referer. */
export async function createLoginLink(
  store: TokenIssuing,
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

/** Exchanges an unused code for the token of one login. Returns undefined for any other code. */
export async function redeemLoginCode(
  store: TokenIssuing & TokenProof & TokenRevocation & SingleUse,
  code: string,
): Promise<ConsoleToken | undefined> {
  const read = readLoginCode(code);
  const link = read && (await store.proveToken(read));
  if (read === undefined || link === undefined) return undefined;
  // Only the first use of a link succeeds. A second use means that one of the two browsers has a link that was not made for it.
  const use = await store.useOnce({ digest: sha256(code), attempt: randomId(), lifetimeMs: LOGIN_CODE_MS });
  if (use === 'used') return undefined;
  const { id, text, secretDigest } = newTokenText();
  // The audit record of the link names who made it. Who holds the link now is not known.
  const actor: Actor = { by: 'bearer of a login link', via: 'console', bearer: link.id };
  const token = await create(store, {
    token: { id, name: link.name === NAMELESS ? 'console' : link.name, scopes: link.scopes, purpose: 'login' },
    secretDigest,
    lifetimeMs: CONSOLE_LIFETIME_MS,
    actor,
  });
  // If the link was revoked meanwhile, no login may result from it: revoke the new token. Otherwise revoke the used link.
  const isLinkGood = (await store.proveToken(read)) !== undefined;
  await store.revokeToken({ id: isLinkGood ? link.id : id, actor });
  return isLinkGood ? { text, token } : undefined;
}

async function create(store: TokenIssuing, request: CreateTokenRequest): Promise<GatewayToken> {
  const answer = await store.createToken(request);
  if (answer.kind === 'full') throw planeError('TOKENS_FULL', { most: TOKEN_LIMITS.maxTokens });
  return answer.token;
}
