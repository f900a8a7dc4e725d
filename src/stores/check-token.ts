import { planeError } from '../domain/errors/errors.ts';
import { findTokenProblem, TOKEN_LIMITS } from '../domain/identity/gateway-token.ts';
import type { CreateTokenRequest, TokenStore } from '../domain/ports/token-store.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const MAX_LENGTH = 256;

/** Runs before the store reads anything. Every gateway trusts the tokens in the store, so the store accepts no malformed token. */
export function checkNewToken({ token, secretDigest, lifetimeMs }: CreateTokenRequest): void {
  const problem = findTokenProblem(token, lifetimeMs);
  if (problem !== undefined) throw planeError('TOKEN_INVALID', { problem });
  if (!DIGEST.test(secretDigest)) throw planeError('TOKEN_INVALID', { problem: 'the digest of its secret is none' });
}

/**
 * Checks a `useOnce` request. With an empty name, all callers would share one entry. A lifetime that is too long for a store would end too
 * early and allow a second use.
 */
export function checkUse({ digest, attempt, lifetimeMs }: Parameters<TokenStore['useOnce']>[0]): void {
  const names = [digest, attempt].every((name) => name !== '' && name.length <= MAX_LENGTH);
  if (!names) refuse(`it has a digest and an attempt, each of 1 to ${MAX_LENGTH} characters`);
  if (lifetimeMs > TOKEN_LIMITS.maxLifetimeMs) refuse(`it lasts for at most ${TOKEN_LIMITS.maxLifetimeMs} ms`);
}

function refuse(problem: string): never {
  throw planeError('INTERNAL', { problem: `what is used once was not understood: ${problem}` });
}

export const TAKEN = 'its id is taken';
