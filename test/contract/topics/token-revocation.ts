import { expect, it } from 'vitest';
import type { SessionId } from '../../../src/domain/identity/ids.ts';
import { createLoginLink, redeemLoginCode } from '../../../src/gateway/login-link.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { createToken, type MadeToken } from '../../support/create-token.ts';
import {
  acceptRequest,
  allow,
  askAbout,
  claimMany,
  claimOne,
  decideRequest,
  HOUR_MS,
  holdOne,
  openSession,
  reapRequest,
  SESSION_ENDED,
  startRequest,
  type SessionOverrides,
  type TestSession,
} from '../fixtures.ts';
import { recordOf, sameBytes } from '../observe.ts';
import type { Scene } from '../scene.ts';

const makeToken = (store: Store): Promise<MadeToken> => createToken(store, { scopes: ['operator'] });

const note = (store: Store, { id }: MadeToken, session: SessionId): ReturnType<Store['noteTokenSession']> =>
  store.noteTokenSession({ id, session, lifetimeMs: HOUR_MS });

/** Opens a session and records it for the token, as a gateway does before it hands the session out. */
async function openNoted(store: Store, token: MadeToken, overrides: SessionOverrides = {}): Promise<TestSession> {
  const session = await openSession(store, overrides);
  expect(await note(store, token, session.id)).toBe('noted');
  return session;
}

const areRevoked = async (store: Store, sessions: readonly SessionId[]): Promise<(boolean | undefined)[]> =>
  Promise.all(sessions.map(async (id) => (await store.readSession(id))?.revoked));

export function describeTokenRevocation(scene: Scene): void {
  it('revoking a token answers when its sessions are revoked, in every lane', async () => {
    const [store, other] = await scene.openPair();
    const token = await makeToken(store);
    const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
    const sessions: SessionId[] = [];
    for (const lane of [...lanes, ...lanes]) sessions.push((await openNoted(store, token, { lane })).id);
    expect(await other.revokeToken({ id: token.id })).toBe('revoked');
    expect(new Set(await areRevoked(store, sessions))).toEqual(new Set([true]));
    // The revocation is complete: nothing is left for another process to finish.
    expect(await other.finishRevocations({ thorough: false })).toBe(0);
    expect(await other.finishRevocations({ thorough: true })).toBe(0);
  });

  it('a question of a revoked token can no longer be decided, and ends at the next reap', async () => {
    const [store, other] = await scene.openPair();
    const token = await makeToken(store);
    const session = await openNoted(store, token);
    const asked = await askAbout(store, await holdOne(store, session));
    await other.revokeToken({ id: token.id });
    for (const decision of ['allow-once', 'allow-always', 'deny'] as const) {
      const answer = await store.decideApproval(decideRequest(asked, decision));
      expect(answer).toEqual({ kind: 'already-decided', state: 'cancelled' });
    }
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([asked.callId]);
    expect((await recordOf(store, asked.callId)).outcome).toEqual(sameBytes(SESSION_ENDED));
    expect(await store.readApproval(asked.question.id)).toMatchObject({ state: 'cancelled' });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('a call that was allowed before its token was revoked does not start after it', async () => {
    const [store, other] = await scene.openPair();
    const token = await makeToken(store);
    const session = await openNoted(store, token);
    await allow(store, await askAbout(store, await holdOne(store, session)));
    const delivery = await claimOne(store, { lane: session.lane });
    await other.revokeToken({ id: token.id });
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'session-ended', ending: 'revoked' });
    const answer = await store.acceptCall(acceptRequest(session));
    expect(answer).toEqual({ kind: 'unauthenticated', ending: 'revoked' });
  });

  it('a session that is opened while its token is revoked is either revoked with it or refused', async () => {
    const stores = await scene.openMany(4);
    const [store] = stores as [Store];
    const token = await makeToken(store);
    const opening = stores.flatMap((each) =>
      Array.from({ length: 12 }, async () => {
        const { id } = await openSession(each);
        return { id, answer: await note(each, token, id) };
      }),
    );
    // Some sessions are recorded for the token before the revocation begins, the others during it or after it.
    const revoking = opening[opening.length / 2]!.then(() => store.revokeToken({ id: token.id }));
    const opened = await Promise.all(opening);
    expect(await revoking).toBe('revoked');
    const noted = opened.filter(({ answer }) => answer === 'noted').map(({ id }) => id);
    expect(noted.length).toBeGreaterThan(0);
    expect(new Set(await areRevoked(store, noted))).toEqual(new Set([true]));
    expect(await note(store, token, (await openSession(store)).id)).toBe('ended');
  });

  it('a token is revoked by many at once, and each of them answers when its sessions are revoked', async () => {
    const stores = await scene.openMany(4);
    const [store] = stores as [Store];
    const token = await makeToken(store);
    const sessions: SessionId[] = [];
    for (let number = 0; number < 8; number += 1) sessions.push((await openNoted(store, token)).id);
    const answers = stores.map(async (each) => {
      expect(await each.revokeToken({ id: token.id })).toBe('revoked');
      return areRevoked(each, sessions);
    });
    for (const revoked of await Promise.all(answers)) expect(new Set(revoked)).toEqual(new Set([true]));
  });

  it('a login link that is revoked while it is redeemed gives no login', async () => {
    const store = await scene.open();
    const link = await createLoginLink(store, 'http://127.0.0.1', { by: 'test', via: 'cli' }, { name: 'rita' });
    const code = link.split('#')[1]!;
    const tokens = {
      ...store,
      createToken: async (request: Parameters<Store['createToken']>[0]) => {
        const [made] = await store.listTokens({ limit: 1 });
        await store.revokeToken({ id: made!.id });
        return store.createToken(request);
      },
    };
    expect(await redeemLoginCode(tokens, code)).toBeUndefined();
    const left = await store.listTokens({ limit: 10 });
    const works = left.map(({ name, revokedAt }) => [name, revokedAt === undefined]);
    expect(works).toEqual([
      ['rita', false],
      ['rita', false],
    ]);
  });
}
