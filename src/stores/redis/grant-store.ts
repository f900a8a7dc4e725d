import type { Grant, GrantId } from '../../domain/policy/approval.ts';
import { laneOfScopedId } from '../../domain/identity/ids.ts';
import type { FindGrantsRequest, GrantDesk, GrantUse, UseGrantRequest } from '../../domain/ports/approval-store.ts';
import { asList, asNumber, asText } from './answers.ts';
import { common, lease } from './change-calls.ts';
import type { RedisContext } from './redis-context.ts';
import { translate } from './settle-calls.ts';

type Grants = GrantDesk & GrantUse;

/** Max grants that are read, the latest first. A subject whose calls often need an approval can have many. */
const MAX_FOUND = 256;
/** The fields of a grant's hash that are read, in this order. See `functions/shared/grant.lua`. */
const FIELDS = ['facts', 'createdAt', 'expiresAt', 'usesLeft', 'revoked'] as const;

export function createGrantStore(context: RedisContext): Grants {
  return {
    listGrants: (request) => listGrants(context, request),
    readGrant: (id) => readGrant(context, id),
    findGrants: (request) => findGrants(context, request),
    useGrant: (request) => useGrant(context, request),
    revokeGrant: (request) => revokeGrant(context, request),
  };
}

function toGrant(id: string, fields: readonly unknown[]): Grant | undefined {
  if (fields[0] === null || fields[0] === undefined) return undefined;
  const [facts, createdAt, expiresAt, usesLeft, revoked] = fields;
  const left = asText(usesLeft);
  return {
    id: id as GrantId,
    ...(JSON.parse(asText(facts)) as Omit<Grant, 'id' | 'createdAt' | 'expiresAt' | 'usesLeft' | 'revoked'>),
    createdAt: asNumber(createdAt),
    expiresAt: asNumber(expiresAt),
    ...(left === '' ? {} : { usesLeft: Number(left) }),
    revoked: asText(revoked) === '1',
  };
}

async function storeTime(context: RedisContext): Promise<number> {
  const [seconds, microseconds] = asList(await context.command('TIME'));
  return asNumber(seconds) * 1000 + Math.floor(asNumber(microseconds) / 1000);
}

async function listGrants(context: RedisContext, { limit }: { readonly limit: number }): Promise<Grant[]> {
  const found: Grant[] = [];
  const after = `(${await storeTime(context)}`;
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const { grants } = context.lane(lane);
    const range = [grants, after, '+inf', 'LIMIT', '0', String(limit)];
    const ids = asList(await context.command('ZRANGEBYSCORE', ...range)).map(asText);
    const read = await Promise.all(ids.map((id) => readFields(context, lane, id)));
    found.push(...read.filter((grant) => grant !== undefined));
  }
  return found.sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

async function readFields(context: RedisContext, lane: number, id: string): Promise<Grant | undefined> {
  return toGrant(id, asList(await context.command('HMGET', context.lane(lane).grant(id), ...FIELDS)));
}

async function readGrant(context: RedisContext, id: GrantId): Promise<Grant | undefined> {
  const lane = laneOfScopedId(id);
  if (lane < 0 || lane >= context.lanes) return undefined;
  const grant = await readFields(context, lane, id);
  return grant === undefined || grant.expiresAt <= (await storeTime(context)) ? undefined : grant;
}

async function findGrants(context: RedisContext, { session, tool, callId }: FindGrantsRequest): Promise<Grant[]> {
  const lane = laneOfScopedId(session);
  if (lane < 0 || lane >= context.lanes) return [];
  const answer = await context.fcall('find_grants', {
    keys: { meta: context.lane(lane).meta },
    args: { ...common(context, lane), session, tool, callId: callId ?? '', limit: MAX_FOUND },
  });
  return asList(answer)
    .slice(1)
    .flatMap((item) => {
      const [id, ...fields] = asList(item);
      const grant = toGrant(asText(id), fields);
      return grant === undefined ? [] : [grant];
    });
}

async function useGrant(
  context: RedisContext,
  { id, owned, audit }: UseGrantRequest,
): Promise<'used' | 'gone' | 'fenced'> {
  const lane = laneOfScopedId(owned.callId);
  const keys = context.lane(lane);
  const answer = await context.fcall('use_grant', {
    keys: { meta: keys.meta, audit: keys.audit },
    args: { ...common(context, lane), ...lease(owned), grant: id, detail: audit },
  });
  return translate<'used' | 'gone' | 'fenced'>({ USED: 'used', GONE: 'gone', FENCED: 'fenced' }, answer);
}

async function revokeGrant(
  context: RedisContext,
  { id, audit }: { readonly id: GrantId; readonly audit: Uint8Array },
): Promise<'revoked' | 'unknown'> {
  const lane = laneOfScopedId(id);
  if (lane < 0 || lane >= context.lanes) return 'unknown';
  const keys = context.lane(lane);
  const answer = await context.fcall('revoke_grant', {
    keys: { meta: keys.meta, audit: keys.audit },
    args: { ...common(context, lane), grant: id, detail: audit },
  });
  return translate<'revoked' | 'unknown'>({ REVOKED: 'revoked', UNKNOWN: 'unknown' }, answer);
}
