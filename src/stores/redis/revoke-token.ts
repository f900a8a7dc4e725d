import type { Administered } from '../../domain/identity/actor.ts';
import { AUDIT_LIMITS, DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import { TOKEN_LIMITS, type NewToken } from '../../domain/identity/gateway-token.ts';
import type { SessionId } from '../../domain/identity/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import type { SessionCare } from '../../domain/ports/session-store.ts';
import type { RevocationRepair, RevokeTokenRequest, TokenRevocation } from '../../domain/ports/token-store.ts';
import { recordOfRevokedToken } from '../administrative-record.ts';
import { asList, asNumber, asText, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';
import { recordArguments } from './token-record.ts';

/** Max sessions that are revoked at the same time. Afterwards they are removed from the token's list. */
const BATCH = 500;

type Revocations = TokenRevocation & RevocationRepair;

/**
 * Revokes a token and its sessions. They are in different slots, so they cannot be revoked in one step. Because of the order of these
 * steps, a crash after any of them is safe:
 *
 * 1. Mark the token as revoked and list it in `tokens:revoking`, in one step. From now on no gateway can add a session to the token's list.
 * 2. Revoke the sessions in the token's list, in every lane. Revoking a session again changes nothing.
 * 3. Remove the revoked sessions from the token's list. When it is empty, remove the token from `tokens:revoking`.
 *
 * A process that dies after step 1 leaves the token in `tokens:revoking`, and another process continues with step 2.
 */
export function createRevocations(context: RedisContext, sessions: SessionCare): Revocations {
  const { incarnation: record, token, tokens, tokenSessions, tokenEnds: ends, tokensRevoking } = context.deployment;
  const { meta, audit } = context.lane(DEPLOYMENT_LANE);

  async function mark(request: RevokeTokenRequest, skip: number, done: readonly string[]): Promise<unknown> {
    const { id } = request;
    // The facts of a token do not change, so they can be read before the revocation.
    const facts = await context.command('HGET', token(id), 'facts');
    // If there are no facts, the function decides what that means: the token does not exist, or the store was replaced.
    const known = facts === null ? {} : (readObject(asText(facts)) as Partial<NewToken>);
    const { event: _, ...written } = recordArguments(recordOfRevokedToken({ ...known, id }, request));
    return context.fcall('revoke_token', {
      keys: { meta, audit, record, token: token(id), ends, sessions: tokenSessions(id), revoking: tokensRevoking },
      args: {
        incarnation: context.incarnation,
        id,
        keptMs: TOKEN_LIMITS.keptAfterEndMs,
        ...written,
        who: writeWho(request),
        skip,
        limit: BATCH,
      },
      each: done.map((session) => ({ session })),
    });
  }

  async function revokeToken(request: RevokeTokenRequest): Promise<'revoked' | 'unknown'> {
    let failures = 0;
    let failure: unknown;
    let done: string[] = [];
    for (;;) {
      const answer = await mark(request, failures, done);
      if (wordOf(answer) !== 'REVOKED') return 'unknown';
      const left = asList(answer).slice(1).map(asText);
      if (left.length === 0) break;
      const ended = await Promise.allSettled(
        left.map((session) => sessions.revokeSession({ ...request, session: session as SessionId })),
      );
      done = left.filter((_, at) => ended[at]!.status === 'fulfilled');
      // The sessions of other lanes are revoked even if one lane cannot be reached.
      failures += left.length - done.length;
      failure ??= ended.find((each) => each.status === 'rejected')?.reason;
    }
    if (failures > 0) throw failure;
    return 'revoked';
  }

  /**
   * Finds revocations that a process of an earlier release began. Such a release does not list them in `tokens:revoking`, but the token is
   * revoked and its list still has sessions.
   */
  async function findUnlisted(): Promise<string[]> {
    const answer = await context.fcall('list_tokens', {
      keys: { record, tokens },
      args: { incarnation: context.incarnation, prefix: token(''), limit: TOKEN_LIMITS.maxTokens },
    });
    const revoked = asList(answer)
      .slice(1)
      .map((item) => asList(item).map(asText))
      .filter((fields) => fields[4] !== '')
      .map(([id]) => id!);
    const left = await Promise.all(revoked.map((id) => context.command('EXISTS', tokenSessions(id))));
    return revoked.filter((_, at) => asNumber(left[at]) === 1);
  }

  return {
    revokeToken,
    async finishRevocations({ thorough }) {
      const listed = asList(await context.command('ZRANGEBYSCORE', tokensRevoking, '-inf', '+inf')).map(asText);
      const found = [...new Set([...listed, ...(thorough ? await findUnlisted() : [])])];
      const finished = await Promise.allSettled(
        found.map(async (id) => {
          const who = await context.command('HGET', token(id), 'revokedBy');
          return revokeToken({ id, ...readWho(who === null ? '' : asText(who)) });
        }),
      );
      const failed = finished.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return found.length;
    },
  };
}

/** Writes who revoked the token. Another process that continues the revocation puts it into the audit records of the sessions. */
function writeWho({ actor, comment }: Administered): string {
  return JSON.stringify({ actor, comment: comment?.slice(0, AUDIT_LIMITS.commentLength) });
}

function readWho(text: string): Administered {
  const { actor, comment } = readObject(text) as Administered;
  return {
    ...(typeof actor?.by === 'string' && typeof actor.via === 'string' ? { actor } : {}),
    ...(typeof comment === 'string' ? { comment } : {}),
  };
}

/** Returns an empty object for facts that were edited by hand: such a token can still be revoked. */
function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
