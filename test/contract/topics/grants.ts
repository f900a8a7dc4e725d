import { expect, it } from 'vitest';
import { toolId, type CallId } from '../../../src/domain/identity/ids.ts';
import type { NewGrant } from '../../../src/domain/policy/approval.ts';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newGrantId } from '../../../src/domain/identity/new-id.ts';
import {
  ALICE,
  askAbout,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  holdOne,
  HOUR_MS,
  newGrant,
  openSession,
  ownedBy,
  reapRequest,
  settleRequest,
  TOOL,
  type TestSession,
} from '../fixtures.ts';
import { auditOf, readWholeAudit, reclaimOne, recordOf, sameBytes, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

/** Asks about a call, allows it with `allow-always`, and settles it. */
async function grantTo(store: Store, session: TestSession, overrides: Partial<NewGrant> = {}) {
  const asked = await askAbout(store, await holdOne(store, session));
  const grant = newGrant(asked, overrides);
  expect(await store.decideApproval(decideRequest(asked, 'allow-always', { grant }))).toEqual({
    kind: 'decided',
    state: 'allowed',
    grant: grant.id,
  });
  await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
  return { ...grant, approval: asked.question.id, callId: asked.callId };
}

const useBy = (store: Store, id: NewGrant['id'], delivery: Delivery) =>
  store.useGrant({ id, owned: ownedBy(delivery), audit: detail('used') });

export function describeGrants(scene: Scene): void {
  it('allow-always makes a grant in the same step, with store times, named by the approval and the audit', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const before = await store.now();
    const made = await grantTo(store, session, { usesLeft: 3 });
    const { lifetimeMs, callId, ...facts } = made;
    const [grant, ...others] = await store.listGrants({ limit: 10 });
    expect(others).toEqual([]);
    expect(grant).toEqual({
      ...facts,
      by: ALICE,
      createdAt: grant!.createdAt,
      expiresAt: grant!.createdAt + lifetimeMs,
      revoked: false,
    });
    expect(grant!.createdAt).toBeGreaterThanOrEqual(before);
    expect(await store.readGrant(made.id)).toEqual(grant);
    expect(await store.readApproval(made.approval)).toMatchObject({ grant: made.id, resolution: 'allow-always' });
    const created = (await auditOf(store, callId)).filter(({ event }) => event === 'grant.created');
    expect(created).toEqual([expect.objectContaining({ grant: made.id, approval: made.approval })]);
  });

  it('find returns the usable grants of this subject and tool, latest first', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await openSession(store);
    const first = await grantTo(store, session);
    await storeTimePasses(store, 1);
    const second = await grantTo(store, session);
    await grantTo(store, other);
    const find = async (tool = TOOL, from = session) =>
      (await store.findGrants({ session: from.id, tool })).map(({ id }) => id);
    expect(await find()).toEqual([second.id, first.id]);
    expect(await find(toolId('files', 'read'))).toEqual([]);
    await store.revokeGrant({ id: second.id, audit: detail('revoked') });
    expect(await find()).toEqual([first.id]);
    expect(await find(TOOL, other)).toHaveLength(1);
    // Another session of the same subject has the grant too.
    const again = await openSession(store, { subject: session.identity.subject });
    expect(await find(TOOL, again)).toEqual([first.id]);
  });

  it('use counts once per call, for every worker that repeats it, and names the grant in the audit of the call', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { id } = await grantTo(store, session, { usesLeft: 2 });
    const lost = await holdOne(store, session);
    expect(await useBy(store, id, lost)).toBe('used');
    expect(await useBy(store, id, lost)).toBe('used');
    const taken = await reclaimOne(store, lost);
    expect(await useBy(store, id, lost)).toBe('fenced');
    expect(await useBy(store, id, taken)).toBe('used');
    expect((await store.readGrant(id))?.usesLeft).toBe(1);
    expect((await recordOf(store, lost.callId)).grant).toBe(id);
    await store.settleCall(settleRequest(taken));
    expect(await auditOf(store, lost.callId)).toEqual([
      expect.objectContaining({ event: 'grant.used', grant: id, detail: sameBytes(detail('used')) }),
      expect.objectContaining({ event: 'call.settled', grant: id }),
    ]);
  });

  it('a grant that is used up lets nothing else through, but still the call that used it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { id } = await grantTo(store, session, { usesLeft: 1 });
    const [first, second] = [await holdOne(store, session), await holdOne(store, session)];
    const find = async (callId?: CallId) =>
      store.findGrants({ session: session.id, tool: TOOL, ...(callId === undefined ? {} : { callId }) });
    expect(await useBy(store, id, first)).toBe('used');
    expect(await useBy(store, id, second)).toBe('gone');
    expect(await find()).toEqual([]);
    expect(await find(second.callId)).toEqual([]);
    const taken = await reclaimOne(store, first);
    expect(await find(first.callId)).toMatchObject([{ id, usesLeft: 0 }]);
    expect(await useBy(store, id, taken)).toBe('used');
    expect((await store.listGrants({ limit: 10 })).map((grant) => grant.usesLeft)).toEqual([0]);
  });

  it('of many concurrent uses of a grant, only its allowed number pass', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const { id } = await grantTo(store, session, { usesLeft: 5 });
    const held = [];
    for (let index = 0; index < 12; index += 1) held.push(await holdOne(store, session));
    const answers = await Promise.all(
      held.map((delivery, index) => useBy(index % 2 === 0 ? store : other, id, delivery)),
    );
    expect(answers.filter((answer) => answer === 'used')).toHaveLength(5);
    expect(answers.filter((answer) => answer === 'gone')).toHaveLength(7);
    const used = (await readWholeAudit(store, session.lane)).filter(({ event }) => event === 'grant.used');
    expect(used).toHaveLength(5);
  });

  it('a revoked grant lets nothing through, not even the call that had used it, and is revoked once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { id, callId } = await grantTo(store, session);
    const [held, next] = [await holdOne(store, session), await holdOne(store, session)];
    expect(await useBy(store, id, held)).toBe('used');
    expect(await store.revokeGrant({ id, audit: detail('first') })).toBe('revoked');
    expect(await store.revokeGrant({ id, audit: detail('second') })).toBe('revoked');
    expect(await useBy(store, id, held)).toBe('gone');
    expect(await useBy(store, id, next)).toBe('gone');
    expect(await store.listGrants({ limit: 10 })).toMatchObject([{ id, revoked: true }]);
    const revoked = (await auditOf(store, callId)).filter(({ event }) => event === 'grant.revoked');
    expect(revoked).toEqual([
      expect.objectContaining({ grant: id, session: session.id, tool: TOOL, detail: sameBytes(detail('first')) }),
    ]);
  });

  it('a grant can be revoked when the call it came from is long forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session));
    const grant = newGrant(asked);
    await store.decideApproval(decideRequest(asked, 'allow-always', { grant }));
    const delivery = await claimOne(store, { lane: session.lane });
    await store.settleCall(settleRequest(delivery, encodedOutcome('ok'), { retentionMs: 20 }));
    await storeTimePasses(store, 60);
    await store.reapCalls(reapRequest(session.lane));
    expect(await store.readCall(asked.callId)).toBeUndefined();
    expect(await store.revokeGrant({ id: grant.id, audit: detail('gone') })).toBe('revoked');
    const last = (await readWholeAudit(store, session.lane)).at(-1);
    expect(last).toMatchObject({ event: 'grant.revoked', callId: asked.callId, grant: grant.id });
    expect(JSON.parse(last!.identity!)).toEqual(session.identity);
  });

  it('a grant ends with its lifetime and is forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { id } = await grantTo(store, session, { lifetimeMs: 300 });
    const lasting = await grantTo(store, session);
    const held = await holdOne(store, session);
    await storeTimePasses(store, 305);
    expect(await useBy(store, id, held)).toBe('gone');
    expect((await store.findGrants({ session: session.id, tool: TOOL })).map((grant) => grant.id)).toEqual([
      lasting.id,
    ]);
    expect(await store.readGrant(id)).toBeUndefined();
    expect(await store.revokeGrant({ id, audit: detail('late') })).toBe('unknown');
    await store.reapCalls(reapRequest(session.lane));
    expect((await store.listGrants({ limit: 10 })).map((grant) => grant.id)).toEqual([lasting.id]);
    expect(await useBy(store, lasting.id, held)).toBe('used');
  });

  it('a grant lets only calls of its own subject and tool through', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await openSession(store, { lane: session.lane });
    const { id } = await grantTo(store, session);
    expect(await useBy(store, id, await holdOne(store, other))).toBe('gone');
    expect(await useBy(store, id, await holdOne(store, session, { tool: toolId('files', 'read') }))).toBe('gone');
    const held = await holdOne(store, session);
    expect(await useBy(store, newGrantId(session.id as never), held)).toBe('gone');
    expect(await useBy(store, 'nonsense' as never, held)).toBe('gone');
    expect((await store.readGrant(id))?.usesLeft).toBeUndefined();
    const unknown = { id: newGrantId(session.id as never), audit: detail('none') };
    expect(await store.revokeGrant(unknown)).toBe('unknown');
    expect(await store.revokeGrant({ ...unknown, id: 'nonsense' as never })).toBe('unknown');
  });

  it('grants are listed by expiry, no more than asked for', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [late, soon] = [await grantTo(store, session, { lifetimeMs: 3 * HOUR_MS }), await grantTo(store, session)];
    const ids = async (limit: number) => (await store.listGrants({ limit })).map(({ id }) => id);
    expect(await ids(10)).toEqual([soon.id, late.id]);
    expect(await ids(1)).toEqual([soon.id]);
  });
}
