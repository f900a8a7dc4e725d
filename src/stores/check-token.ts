import { planeError } from '../domain/errors.ts';
import { findTokenProblem, TOKEN_LIMITS } from '../domain/gateway-token.ts';
import type { CreateTokenRequest, TokenStore } from '../ports/token-store.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const LONGEST = 256;

/** Before the store looks at anything: what it keeps, every gateway believes. */
export function checkNewToken({ token, secretDigest, lifetimeMs }: CreateTokenRequest): void {
  const problem = findTokenProblem(token, lifetimeMs);
  if (problem !== undefined) throw planeError('TOKEN_INVALID', { problem });
  if (!DIGEST.test(secretDigest)) throw planeError('TOKEN_INVALID', { problem: 'the digest of its secret is none' });
}

/** An empty name would be everybody's; a time that a store cannot keep would end too early, and let a second use through. */
export function checkUse({ digest, attempt, lifetimeMs }: Parameters<TokenStore['useOnce']>[0]): void {
  const names = [digest, attempt].every((name) => name !== '' && name.length <= LONGEST);
  if (!names) refuse(`it has a digest and an attempt, each of 1 to ${LONGEST} characters`);
  if (lifetimeMs > TOKEN_LIMITS.mostLifetimeMs) refuse(`it lasts for at most ${TOKEN_LIMITS.mostLifetimeMs} ms`);
}

function refuse(problem: string): never {
  throw planeError('INTERNAL', { problem: `what is used once was not understood: ${problem}` });
}

export const TAKEN = 'its id is taken';
