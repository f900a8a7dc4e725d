import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { TOKEN_LIMITS } from '../../domain/identity/gateway-token.ts';
import type { SessionCare } from '../../domain/ports/session-store.ts';
import { LOGIN_KNOWN_MS, type TokenStore } from '../../domain/ports/token-store.ts';
import { sha256 } from '../../base/sha256.ts';
import { recordOfLogin, recordOfNewToken } from '../administrative-record.ts';
import { checkNewToken, checkUse, TAKEN } from '../check-token.ts';
import { asList, asText, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';
import { createRevocations } from './revoke-token.ts';
import { recordArguments, toToken } from './token-record.ts';

/** Tokens belong to the whole deployment, so all their keys are in the slot of the deployment's records. */
export function createTokenStore(context: RedisContext, sessions: SessionCare): TokenStore {
  const { incarnation: record, token, tokenSessions, tokens, tokenEnds: ends, once } = context.deployment;
  const { incarnation } = context;
  const { meta, audit } = context.lane(DEPLOYMENT_LANE);
  const prefix = token('');
  const { keptAfterEndMs: keptMs, maxTokens: most } = TOKEN_LIMITS;

  return {
    async createToken(request) {
      checkNewToken(request);
      const { id, ...facts } = request.token;
      const lifetimeMs = Math.ceil(request.lifetimeMs);
      const secret = keptSecret(request.secretDigest);
      const answer = await context.fcall('create_token', {
        keys: { meta, audit, record, token: token(id), tokens, ends },
        args: {
          incarnation,
          prefix,
          id,
          secret,
          facts: JSON.stringify(facts),
          lifetimeMs,
          keptMs,
          most,
          ...recordArguments(recordOfNewToken(request)),
        },
      });
      if (wordOf(answer) === 'TAKEN') throw planeError('TOKEN_INVALID', { problem: TAKEN });
      if (wordOf(answer) === 'FULL') return { kind: 'full' };
      return { kind: 'created', token: toToken(id, asList(answer).slice(1)) };
    },
    async proveToken({ id, secretDigest }) {
      const answer = await context.fcall('prove_token', {
        keys: { record, token: token(id), tokens },
        args: { incarnation, id, secret: keptSecret(secretDigest) },
      });
      return wordOf(answer) === 'LIVE' ? toToken(id, asList(answer).slice(1)) : undefined;
    },
    async listTokens({ limit }) {
      const answer = await context.fcall('list_tokens', {
        keys: { record, tokens },
        args: { incarnation, prefix, limit },
      });
      return asList(answer)
        .slice(1)
        .map((item) => {
          const [id, ...fields] = asList(item);
          return toToken(asText(id), fields);
        });
    },
    async noteTokenSession({ id, session, lifetimeMs }) {
      const answer = await context.fcall('note_token_session', {
        keys: { record, token: token(id), sessions: tokenSessions(id) },
        args: { incarnation, session, lifetimeMs: Math.ceil(lifetimeMs) },
      });
      return wordOf(answer) === 'NOTED' ? 'noted' : 'ended';
    },
    ...createRevocations(context, sessions),
    async useOnce(request) {
      checkUse(request);
      const { digest, attempt, lifetimeMs } = request;
      const answer = await context.fcall('use_once', {
        keys: { record, once: once(digest) },
        args: { incarnation, attempt, lifetimeMs: lifetimeMs > 0 ? Math.ceil(lifetimeMs) : 0 },
      });
      return wordOf(answer) === 'FIRST' ? 'first' : 'used';
    },
    async recordLogin(request) {
      await context.fcall('record_login', {
        keys: { meta, audit, once: once(sha256(request.attempt)) },
        args: { incarnation, ...recordArguments(recordOfLogin(request)), knownMs: LOGIN_KNOWN_MS },
      });
    },
  };
}

/** Hashes the digest again before it is sent. So the server and the connection never hold the value that proves a token. */
function keptSecret(secretDigest: string): string {
  return sha256(secretDigest);
}
