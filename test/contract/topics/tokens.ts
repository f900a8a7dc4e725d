import { expect, it } from 'vitest';
import type { NewToken, TokenScope } from '../../../src/domain/identity/gateway-token.ts';
import type { CreateTokenRequest } from '../../../src/domain/ports/token-store.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { newTokenText } from '../../../src/domain/identity/token-text.ts';
import { HOUR_MS, openSession } from '../fixtures.ts';
import { storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const IDENTITY = { tenant: 'acme', subject: 'ann', agent: 'helper' };

function newRequest(overrides: Partial<NewToken> & { readonly lifetimeMs?: number } = {}): CreateTokenRequest {
  const { id, secretDigest } = newTokenText();
  const { lifetimeMs = HOUR_MS, ...named } = overrides;
  return { token: { id, name: 'ci', scopes: ['operator'], ...named }, secretDigest, lifetimeMs };
}

const proofOf = ({ token, secretDigest }: CreateTokenRequest) => ({ id: token.id, secretDigest });

async function create(store: Store, overrides: Parameters<typeof newRequest>[0] = {}): Promise<CreateTokenRequest> {
  const request = newRequest(overrides);
  expect(await store.createToken(request)).toMatchObject({ kind: 'created' });
  return request;
}

export function describeTokens(scene: Scene): void {
  it('a token has the fields it was made with, and its secret proves it to every reader', async () => {
    const [store, other] = await scene.openPair();
    const before = await store.now();
    const named = { identity: IDENTITY, decidesAs: 'acme/ann', unattended: true } as const;
    const request = newRequest({ scopes: ['agent', 'approver'], ...named });
    const answer = await store.createToken(request);
    const after = await store.now();
    const token = answer.kind === 'created' ? answer.token : undefined;
    expect(token).toEqual({
      ...request.token,
      createdAt: expect.any(Number) as number,
      expiresAt: token!.createdAt + HOUR_MS,
    });
    expect(token!.createdAt).toBeGreaterThanOrEqual(before);
    expect(token!.createdAt).toBeLessThanOrEqual(after);
    expect(await other.proveToken(proofOf(request))).toEqual(token);
    expect(await other.listTokens({ limit: 10 })).toEqual([token]);
  });

  it('another secret, an empty one and what the store itself keeps prove nothing', async () => {
    const store = await scene.open();
    const [request, neighbour] = [await create(store), await create(store)];
    const { id } = request.token;
    const wrong = [newTokenText().secretDigest, '', neighbour.secretDigest, sha256(request.secretDigest)];
    for (const secretDigest of wrong) expect(await store.proveToken({ id, secretDigest })).toBeUndefined();
    for (const other of [newTokenText().id, '', '*', `${id}x`, id.toUpperCase()]) {
      expect(await store.proveToken({ id: other, secretDigest: request.secretDigest })).toBeUndefined();
    }
  });

  it('making a token again with the same secret changes nothing; with another it is refused', async () => {
    const [store, other] = await scene.openPair();
    const request = newRequest();
    const first = await store.createToken(request);
    await storeTimeAfter(store, await store.now());
    expect(await other.createToken(request)).toEqual(first);
    const grown: readonly TokenScope[] = ['admin'];
    const thief = { ...newRequest({ scopes: grown }), token: { ...request.token, scopes: grown } };
    await expect(other.createToken(thief)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await store.createToken({ ...request, token: { ...request.token, scopes: grown } })).toEqual(first);
    expect(await store.proveToken(proofOf(thief))).toBeUndefined();
    expect(await store.proveToken(proofOf(request))).toMatchObject({ scopes: ['operator'] });
    expect(await store.listTokens({ limit: 10 })).toHaveLength(1);
  });

  it('a revoked token is refused from the next proof on, by every reader, and stays listed', async () => {
    const [store, other] = await scene.openPair();
    const [request, neighbour] = [await create(store), await create(store)];
    expect(await other.proveToken(proofOf(request))).toBeDefined();
    expect(await store.revokeToken({ id: request.token.id })).toBe('revoked');
    expect(await other.proveToken(proofOf(request))).toBeUndefined();
    expect(await other.proveToken(proofOf(neighbour))).toBeDefined();
    const listed = await other.listTokens({ limit: 10 });
    expect(listed.find(({ id }) => id === request.token.id)?.revokedAt).toEqual(expect.any(Number));
    // Neither a second revocation nor a second creation changes the token or makes it valid again.
    await storeTimeAfter(store, await store.now());
    expect(await other.revokeToken({ id: request.token.id })).toBe('revoked');
    expect(await other.createToken(request)).toMatchObject({ token: { revokedAt: expect.any(Number) as number } });
    expect(await store.listTokens({ limit: 10 })).toEqual(listed);
    expect(await store.proveToken(proofOf(request))).toBeUndefined();
  });

  it('revoking what never was says so', async () => {
    const store = await scene.open();
    await create(store);
    for (const id of [newTokenText().id, '', '*']) expect(await store.revokeToken({ id })).toBe('unknown');
  });

  it('a token past its time proves nothing, and stays listed', async () => {
    const store = await scene.open();
    const request = await create(store, { lifetimeMs: 5 });
    const [listed] = await store.listTokens({ limit: 1 });
    await storeTimeAfter(store, listed!.expiresAt - 1);
    expect(await store.proveToken(proofOf(request))).toBeUndefined();
    expect(await store.listTokens({ limit: 1 })).toEqual([listed]);
    expect(await store.createToken(request)).toEqual({ kind: 'created', token: listed });
    expect(await store.revokeToken({ id: request.token.id })).toBe('revoked');
  });

  it('tokens are listed the newest first, as many as were asked for', async () => {
    const store = await scene.open();
    const made: string[] = [];
    for (let number = 0; number < 4; number += 1) {
      made.unshift((await create(store)).token.id);
      await storeTimeAfter(store, await store.now());
    }
    const idsOf = async (limit: number) => (await store.listTokens({ limit })).map(({ id }) => id);
    expect(await idsOf(10)).toEqual(made);
    expect(await idsOf(2)).toEqual(made.slice(0, 2));
  });

  it('of many concurrent creations of the same token, one succeeds, and all get the same answer', async () => {
    const stores = await scene.openMany(4);
    const request = newRequest();
    const answers = await Promise.all(stores.map((store) => store.createToken(request)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await stores[0]!.listTokens({ limit: 10 })).toHaveLength(1);
  });

  it.each<[string, Partial<CreateTokenRequest> | Partial<NewToken>]>([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['root' as TokenScope] }],
    ['a scope twice', { scopes: ['operator', 'operator'] }],
    ['the scope agent and nobody to act for', { scopes: ['agent'] }],
    ['somebody to act for and no scope agent', { identity: IDENTITY }],
    ['a subject with a line break', { scopes: ['agent'], identity: { ...IDENTITY, subject: 'ann\nadmin' } }],
    ['a tenant with a slash', { scopes: ['agent'], identity: { ...IDENTITY, tenant: 'a/b' } }],
    ['delegators', { scopes: ['agent'], identity: { ...IDENTITY, delegators: ['main'] } }],
    ['a principal and no scope approver', { decidesAs: 'acme/ann' }],
    ['a principal without its tenant', { scopes: ['approver'], decidesAs: 'ann' }],
    ['no name', { name: '' }],
    ['a name too long', { name: 'x'.repeat(101) }],
    ['an id that is none', { id: '../policy' }],
    ['a secret that is no digest', { secretDigest: 'secret' }],
    ['no lifetime', { lifetimeMs: 0 }],
    ['a lifetime that is no number', { lifetimeMs: Number.NaN }],
    ['an endless lifetime', { lifetimeMs: Number.POSITIVE_INFINITY }],
  ])('a token with %s is not made', async (_, wrong) => {
    const store = await scene.open();
    const isOfRequest = 'secretDigest' in wrong || 'lifetimeMs' in wrong;
    const request = isOfRequest ? { ...newRequest(), ...wrong } : newRequest(wrong as Partial<NewToken>);
    await expect(store.createToken(request)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await store.listTokens({ limit: 10 })).toEqual([]);
  });

  it('a revoked token takes along the sessions that were noted for it, and no others', async () => {
    const [store, other] = await scene.openPair();
    const [token, neighbour] = [await create(store), await create(store)];
    const sessions = [await openSession(store), await openSession(store), await openSession(store)];
    const note = (at: number, { token: { id } }: CreateTokenRequest): ReturnType<Store['noteTokenSession']> =>
      store.noteTokenSession({ id, session: sessions[at]!.id, lifetimeMs: HOUR_MS });
    expect(await Promise.all([note(0, token), note(1, token), note(2, neighbour)])).toEqual(Array(3).fill('noted'));
    expect(await other.revokeToken({ id: token.token.id })).toBe('revoked');
    const read = await Promise.all(sessions.map(({ id }) => store.readSession(id)));
    expect(read.map((session) => session?.revoked)).toEqual([true, true, false]);
    expect(await other.revokeToken({ id: token.token.id })).toBe('revoked');
  });

  it('a session is not noted for a token that is revoked, expired or unknown', async () => {
    const store = await scene.open();
    const [revoked, expired] = [await create(store), await create(store, { lifetimeMs: 5 })];
    await store.revokeToken({ id: revoked.token.id });
    await storeTimeAfter(store, (await store.now()) + 6);
    const { id: session } = await openSession(store);
    for (const { token } of [revoked, expired, newRequest()])
      expect(await store.noteTokenSession({ id: token.id, session, lifetimeMs: HOUR_MS })).toBe('ended');
  });

  it('a store whose data was taken away proves no token and makes none', async ({ skip }) => {
    const store = await scene.open();
    const request = await create(store);
    const replaced = scene.replaceData();
    skip(replaced === undefined, 'the data of this store cannot be taken away while it is open');
    await replaced;
    await expect(store.proveToken(proofOf(request))).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await expect(store.createToken(newRequest())).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await expect(store.revokeToken({ id: request.token.id })).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await expect(store.listTokens({ limit: 1 })).rejects.toMatchObject({ code: 'STORE_REPLACED' });
  });
}
