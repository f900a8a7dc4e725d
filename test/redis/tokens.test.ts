import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEPLOYMENT_LANE } from '../../src/domain/audit/audit-record.ts';
import { TOKEN_LIMITS } from '../../src/domain/identity/gateway-token.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openConnection, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { callFunction, readFunctions } from '../../src/stores/redis/function-library.ts';
import { deploymentKeys, laneKeys } from '../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { storeTimeAfter } from '../contract/observe.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = TOKEN_LIMITS.keptAfterEndMs;

let server: RedisServer;
let connection: Connection;
let store: Store;
let name: string;
beforeAll(async () => {
  server = await startRedis();
  connection = openConnection({ url: server.url, commandTimeoutMs: 10_000 }, 'commands');
  await untilReady(connection, 10_000);
});
beforeEach(async () => {
  name = `tokens-${randomId()}`;
  store = await openRedisStore({ url: server.url, name });
});
afterEach(async () => {
  await store.close();
  await server.cli('FLUSHALL');
});
afterAll(async () => {
  connection.disconnect();
  await server.stop();
  failOnLeaks();
});

async function create(lifetimeMs = HOUR_MS) {
  const made = newTokenText();
  const { id, secretDigest } = made;
  const token = { id, name: 'ci', scopes: ['operator'] as const };
  const answer = await store.createToken({ token, secretDigest, lifetimeMs });
  expect(answer.kind).toBe('created');
  const [listed] = (await store.listTokens({ limit: 10 })).filter((each) => each.id === id);
  return { ...made, expiresAt: listed!.expiresAt };
}

const expiryOf = async (key: string) => Number(await server.cli('PEXPIRETIME', key));
const idsOf = async (key: string) => (await server.cli('ZRANGE', key, '0', '-1')).split('\n').filter(Boolean);

/** Calls the function directly, with other limits than the store uses. */
async function createWithin(bounds: { most: number; keptMs: number }, lifetimeMs = HOUR_MS) {
  const { id } = newTokenText();
  const { incarnation: record, token, tokens, tokenEnds: ends } = deploymentKeys(name);
  const { meta, audit } = laneKeys(name, DEPLOYMENT_LANE);
  const incarnation = await server.cli('HGET', record, 'id');
  const answer = await callFunction(connection, readFunctions().get('create_token')!, {
    keys: { meta, audit, record, token: token(id), tokens, ends },
    args: {
      incarnation,
      prefix: token(''),
      id,
      secret: sha256(id),
      facts: '{}',
      lifetimeMs,
      ...bounds,
      event: 'token.created',
      about: '',
      detail: '',
    },
  });
  return { id, word: String((answer as unknown[])[0]) };
}

it('a token goes a week after its end, and a used digest when it expires', async () => {
  const { token, once } = deploymentKeys(name);
  const [kept, revoked, expired] = [await create(), await create(), await create(1)];
  expect(await expiryOf(token(kept.id))).toBe(kept.expiresAt + WEEK_MS);
  await store.revokeToken(revoked);
  const { revokedAt } = (await store.listTokens({ limit: 10 })).find(({ id }) => id === revoked.id)!;
  expect(await expiryOf(token(revoked.id))).toBe(revokedAt! + WEEK_MS);
  await storeTimeAfter(store, expired.expiresAt);
  await store.revokeToken(expired);
  expect(await expiryOf(token(expired.id))).toBe(expired.expiresAt + WEEK_MS);
  const before = await store.now();
  await store.useOnce({ digest: 'd', attempt: 'a', lifetimeMs: HOUR_MS });
  await store.useOnce({ digest: 'd', attempt: 'b', lifetimeMs: 2 * HOUR_MS });
  const at = await expiryOf(once('d'));
  expect(at).toBeGreaterThanOrEqual(before + HOUR_MS);
  expect(at).toBeLessThanOrEqual((await store.now()) + HOUR_MS);
});

it('forgotten tokens leave the lists when the next one is made', async () => {
  const { tokens, tokenEnds } = deploymentKeys(name);
  const first = await createWithin({ most: 10, keptMs: 1 }, 1);
  await storeTimeAfter(store, (await store.now()) + 2);
  expect(await idsOf(tokens)).toEqual([first.id]);
  expect(await store.listTokens({ limit: 10 })).toEqual([]);
  const second = await create();
  expect(await idsOf(tokens)).toEqual([second.id]);
  expect(await idsOf(tokenEnds)).toEqual([second.id]);
});

it('ended tokens make room when there are as many as there may be; those that work do not', async () => {
  const bounds = { most: 2, keptMs: WEEK_MS };
  const [first, second] = [await createWithin(bounds), await createWithin(bounds)];
  expect(await createWithin(bounds)).toMatchObject({ word: 'FULL' });
  await store.revokeToken(first);
  const third = await createWithin(bounds);
  expect(third.word).toBe('CREATED');
  expect(await createWithin(bounds)).toMatchObject({ word: 'FULL' });
  const { tokens, token } = deploymentKeys(name);
  expect((await idsOf(tokens)).sort()).toEqual([second.id, third.id].sort());
  expect(await server.cli('EXISTS', token(first.id))).toBe('0');
});

it('a token that no list shows proves nothing, and neither the secret nor its digest is in the server', async () => {
  const made = await create();
  expect(await store.proveToken(made)).toMatchObject({ id: made.id });
  const { tokens, token } = deploymentKeys(name);
  const stored = await server.cli('HGETALL', token(made.id));
  expect(stored).toContain('operator');
  for (const secret of [made.text.slice(-43), made.secretDigest]) expect(stored).not.toContain(secret);
  await server.cli('ZREM', tokens, made.id);
  expect(await store.proveToken(made)).toBeUndefined();
});
