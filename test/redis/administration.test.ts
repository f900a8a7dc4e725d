import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEPLOYMENT_LANE } from '../../src/domain/audit/audit-record.ts';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import { laneKeys } from '../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { HOUR_MS, openSession } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe('an administrative change whose audit record cannot be written', () => {
  it('is not made: policy, token and session stay as they were', async () => {
    const name = 'unwritable';
    const store = await openRedisStore({ url: server.url, name, lanes: 1 });
    try {
      const session = await openSession(store);
      const { id, secretDigest } = newTokenText();
      const kept = { token: { id, name: 'kept', scopes: ['operator'] as const }, secretDigest, lifetimeMs: HOUR_MS };
      await store.createToken(kept);
      // A key of another type: every append to it fails.
      for (const lane of [0, DEPLOYMENT_LANE]) await server.cli('SET', laneKeys(name, lane).audit, 'x');
      const other = newTokenText();
      const refused = { ...kept, token: { ...kept.token, id: other.id }, secretDigest: other.secretDigest };
      const paused = { expectedVersion: 0, policy: { ...CLOSED_POLICY, paused: { all: true } } };
      await expect(store.writePolicy(paused)).rejects.toMatchObject({ code: 'STORE_FAILED' });
      await expect(store.createToken(refused)).rejects.toMatchObject({ code: 'STORE_FAILED' });
      await expect(store.revokeToken({ id })).rejects.toMatchObject({ code: 'STORE_FAILED' });
      const login = { outcome: 'succeeded', attempt: 'a', detail: '' } as const;
      await expect(store.recordLogin(login)).rejects.toMatchObject({ code: 'STORE_FAILED' });
      await expect(openSession(store, { delegatedBy: session.id, ...session.identity })).rejects.toMatchObject({
        code: 'STORE_FAILED',
      });
      await expect(store.revokeSession({ session: session.id })).rejects.toMatchObject({ code: 'STORE_FAILED' });
      expect(await store.readPolicy()).toEqual({ version: 0, policy: CLOSED_POLICY });
      expect((await store.listTokens({ limit: 10 })).map((token) => [token.id, token.revokedAt])).toEqual([
        [id, undefined],
      ]);
      expect((await store.listSessions(10)).map((each) => [each.id, each.revoked])).toEqual([[session.id, false]]);
      expect(await server.cli('EXISTS', `${laneKeys(name, 0).prefix}delegates:${session.id}`)).toBe('0');
    } finally {
      await store.close();
    }
  });
});

describe('the audit lane of the deployment', () => {
  it('is made for a store of a release that had none, and counts from 1', async () => {
    const name = 'older';
    await (await openRedisStore({ url: server.url, name, lanes: 1 })).close();
    await server.cli('DEL', laneKeys(name, DEPLOYMENT_LANE).meta);
    const store = await openRedisStore({ url: server.url, name });
    try {
      expect(await store.auditState({ lane: DEPLOYMENT_LANE })).toMatchObject({ sequence: 0, refuses: 'nothing' });
      await store.writePolicy({ expectedVersion: 0, policy: CLOSED_POLICY });
      const [record] = await store.readAudit({ lane: DEPLOYMENT_LANE, fromSequence: 1, limit: 2 });
      expect(record).toMatchObject({ lane: DEPLOYMENT_LANE, sequence: 1, event: 'policy.changed' });
    } finally {
      await store.close();
    }
  });

  it('lies in one slot with the records that it is about', () => {
    expect(laneKeys('sallyport', DEPLOYMENT_LANE)).toMatchObject({
      meta: '{sallyport}:meta',
      audit: '{sallyport}:journal',
    });
  });

  it('refuses no request, however late its sink is: pausing and revoking always work', async () => {
    const store = await openRedisStore({ url: server.url, name: 'late', lanes: 1 });
    try {
      const lane = DEPLOYMENT_LANE;
      const bound = { records: 0, lateMs: 0 };
      const claimed = await store.claimAudit({ lane, drainer: 'one', leaseMs: 60_000 });
      expect(claimed.kind).toBe('claimed');
      const fence = claimed.kind === 'claimed' ? claimed.fence : 0;
      const bounds = { privileged: bound, everything: bound };
      await store.drainAudit({
        lane,
        drainer: 'one',
        fence,
        through: 0,
        position: 0,
        last: '',
        surplus: 0,
        foreign: 0,
        leaseMs: 60_000,
        bounds,
      });
      const paused = { expectedVersion: 0, policy: { ...CLOSED_POLICY, paused: { all: true } } };
      expect(await store.writePolicy(paused)).toMatchObject({ kind: 'written' });
      expect(await store.auditState({ lane })).toMatchObject({ sequence: 1, refuses: 'nothing' });
    } finally {
      await store.close();
    }
  });
});
