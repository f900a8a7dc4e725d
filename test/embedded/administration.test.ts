import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { HOUR_MS, openSession } from '../contract/fixtures.ts';
import { openDirectStore, type DirectStore } from './direct-store.ts';

/** Plants a record under the lane's next number, so that the store cannot write its own record. */
function blockAppends({ database, lane }: DirectStore): void {
  database.run(
    'INSERT INTO auditRecord VALUES (?, ?, 0, ?, ?, ?)',
    lane.auditLaneId,
    lane.auditSequence + 1,
    'planted',
    '{}',
    new Uint8Array(32),
  );
}

function allowAppends({ database }: DirectStore): void {
  database.run(`DELETE FROM auditRecord WHERE callId = 'planted'`);
}

describe('an administrative change whose audit record cannot be written', () => {
  let direct: DirectStore;
  beforeEach(() => {
    direct = openDirectStore();
  });
  afterEach(() => direct.remove());

  it('is not made: policy, token and session stay as they were, and it works again later', async () => {
    const { store } = direct;
    const session = await openSession(store);
    const { id, secretDigest } = newTokenText();
    const kept = { token: { id, name: 'kept', scopes: ['operator'] as const }, secretDigest, lifetimeMs: HOUR_MS };
    await store.createToken(kept);
    blockAppends(direct);
    const other = newTokenText();
    const refused = { ...kept, token: { ...kept.token, id: other.id }, secretDigest: other.secretDigest };
    const paused = { expectedVersion: 0, policy: { ...CLOSED_POLICY, paused: { all: true } } };
    await expect(store.writePolicy(paused)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(store.createToken(refused)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(store.revokeToken({ id })).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(openSession(store)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(store.revokeSession({ session: session.id })).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(await store.readPolicy()).toEqual({ version: 0, policy: CLOSED_POLICY });
    expect((await store.listTokens({ limit: 10 })).map((token) => [token.id, token.revokedAt])).toEqual([
      [id, undefined],
    ]);
    expect((await store.listSessions(10)).map((each) => [each.id, each.revoked])).toEqual([[session.id, false]]);
    allowAppends(direct);
    expect(await store.writePolicy(paused)).toMatchObject({ kind: 'written' });
    expect(await store.revokeToken({ id })).toBe('revoked');
  });
});
