import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEPLOYMENT_LANE } from '../../src/domain/audit/audit-record.ts';
import type { SessionId } from '../../src/domain/identity/ids.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openConnection, sendCommand, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { deploymentKeys, laneKeys } from '../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { decodeAll } from '../../src/base/message-pack.ts';
import { openSession } from '../contract/fixtures.ts';
import { readWholeAudit } from '../contract/observe.ts';
import { createToken, type MadeToken } from '../support/create-token.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const HOUR_MS = 3_600_000;
const LANES = 16;
/** The lane that the limited user of the first test cannot write to. */
const CLOSED_LANE = 7;

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
  name = `revoked-${randomId()}`;
  store = await openRedisStore({ url: server.url, name, lanes: LANES });
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

async function openNoted(token: MadeToken, options: { lane?: number; lifetimeMs?: number } = {}): Promise<SessionId> {
  const { id } = await openSession(store, options);
  const { lifetimeMs = HOUR_MS } = options;
  expect(await store.noteTokenSession({ id: token.id, session: id, lifetimeMs })).toBe('noted');
  return id;
}

async function inEveryLane(token: MadeToken): Promise<SessionId[]> {
  const sessions: SessionId[] = [];
  for (let lane = 0; lane < LANES; lane += 1) sessions.push(await openNoted(token, { lane }));
  return sessions;
}

const makeToken = (): Promise<MadeToken> => createToken(store, { scopes: ['operator'] });
const isRevoked = async (id: SessionId): Promise<boolean> => (await store.readSession(id))!.revoked;
const countRevoked = async (sessions: readonly SessionId[]): Promise<number> =>
  (await Promise.all(sessions.map(isRevoked))).filter(Boolean).length;
const revoking = async (): Promise<string[]> =>
  (await server.cli('ZRANGE', deploymentKeys(name).tokensRevoking, '0', '-1')).split('\n').filter(Boolean);

/** Revokes as a process of an earlier release does: with fewer keys and arguments, and without naming sessions that are done. */
async function revokeAsBefore({ id }: MadeToken): Promise<unknown> {
  const { incarnation: record, token, tokenEnds } = deploymentKeys(name);
  const { meta, audit } = laneKeys(name, DEPLOYMENT_LANE);
  const incarnation = await server.cli('HGET', record, 'id');
  const keys = [meta, audit, record, token(id), tokenEnds];
  return sendCommand(connection, 'FCALL', ['sp1_revoke_token', '5', ...keys, incarnation, id, '1000', '', '']);
}

it('a lane that cannot be written keeps only its own sessions, and another process finishes the revocation', async () => {
  const token = await makeToken();
  const sessions = await inEveryLane(token);
  await server.cli('ACL', 'SETUSER', 'limited', 'on', '>secret', '+@all', '&*', '~*');
  const limited = await openRedisStore({ url: server.url, name, username: 'limited', password: 'secret' });
  const open = Array.from({ length: LANES }, (_, lane) => lane).filter((lane) => lane !== CLOSED_LANE);
  const rights = [`~{${name}}:*`, ...open.map((lane) => `~{${name}:${lane}}:*`)];
  await server.cli('ACL', 'SETUSER', 'limited', 'resetkeys', ...rights);
  const actor = { by: 'operator rita', via: 'cli' } as const;
  try {
    const revoked = limited.revokeToken({ id: token.id, actor, comment: 'it leaked' });
    await expect(revoked).rejects.toMatchObject({ code: 'STORE_FORBIDDEN' });
  } finally {
    await limited.close();
  }
  expect(await countRevoked(sessions)).toBe(LANES - 1);
  expect(await isRevoked(sessions[CLOSED_LANE]!)).toBe(false);
  expect(await revoking()).toEqual([token.id]);

  expect(await store.finishRevocations({ thorough: false })).toBe(1);
  expect(await countRevoked(sessions)).toBe(LANES);
  expect(await revoking()).toEqual([]);
  expect(await store.finishRevocations({ thorough: true })).toBe(0);
  // The record of the session names who revoked the token, not the process that finished it.
  const records = await readWholeAudit(store, CLOSED_LANE);
  const ended = records.filter(({ event }) => event === 'session.revoked').map(({ detail }) => decodeAll(detail));
  expect(ended).toMatchObject([[{ by: 'operator rita', via: 'cli', comment: 'it leaked' }, { sessions: 1 }]]);
});

it('a token with more sessions than one step revokes is revoked with all of them', async () => {
  const token = await makeToken();
  const sessions = await Promise.all(Array.from({ length: 1_201 }, () => openNoted(token)));
  expect(await store.revokeToken({ id: token.id })).toBe('revoked');
  expect(await countRevoked(sessions)).toBe(sessions.length);
  expect(await server.cli('EXISTS', deploymentKeys(name).tokenSessions(token.id))).toBe('0');
  expect(await revoking()).toEqual([]);
});

it('a token whose revocation an earlier release began, and left without a mark, is finished by a thorough look', async () => {
  const [token, kept] = [await makeToken(), await makeToken()];
  const [left, others] = [await inEveryLane(token), await openNoted(kept)];
  await server.cli('HSET', deploymentKeys(name).token(token.id), 'revokedAt', String(await store.now()));
  expect(await store.finishRevocations({ thorough: false })).toBe(0);
  expect(await store.finishRevocations({ thorough: true })).toBe(1);
  expect(await countRevoked(left)).toBe(LANES);
  expect(await isRevoked(others)).toBe(false);
});

it('a process of an earlier release that is killed in the middle leaves a mark, and the next look finishes it', async () => {
  const token = await makeToken();
  const sessions = await inEveryLane(token);
  expect(String(await revokeAsBefore(token))).toMatch(/^REVOKED/);
  expect(await countRevoked(sessions)).toBe(0);
  expect(await revoking()).toEqual([token.id]);
  expect(await store.finishRevocations({ thorough: false })).toBe(1);
  expect(await countRevoked(sessions)).toBe(LANES);
});

it('a token that is forgotten in the middle of its revocation is finished all the same', async () => {
  const token = await makeToken();
  const sessions = await inEveryLane(token);
  await revokeAsBefore(token);
  await server.cli('DEL', deploymentKeys(name).token(token.id));
  expect(await store.finishRevocations({ thorough: false })).toBe(1);
  expect(await countRevoked(sessions)).toBe(LANES);
  expect(await revoking()).toEqual([]);
  expect(await store.revokeToken({ id: token.id })).toBe('unknown');
});

it('a short session that is noted last does not make the longer ones of its token forgotten', async () => {
  const token = await createToken(store, { scopes: ['operator'], lifetimeMs: 60_000 });
  await openNoted(token, { lifetimeMs: 24 * HOUR_MS });
  const before = await store.now();
  await openNoted(token, { lifetimeMs: 1_000 });
  const key = deploymentKeys(name).tokenSessions(token.id);
  expect(Number(await server.cli('PEXPIRETIME', key))).toBeGreaterThan(before + 23 * HOUR_MS);
});
