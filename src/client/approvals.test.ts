import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unknownActor } from '../domain/identity/actor.ts';
import type { Approval, Principal } from '../domain/policy/approval.ts';
import { CLOSED_POLICY } from '../domain/policy/policy.ts';
import type { Store } from '../domain/ports/store.ts';
import { decode } from '../base/message-pack.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import {
  askAbout,
  claimMany,
  claimOne,
  holdOne,
  HOUR_MS,
  openSession,
  reapRequest,
  type AskOverrides,
} from '../../test/contract/fixtures.ts';
import { auditOf, recordOf } from '../../test/contract/observe.ts';
import { openDirectStore, type DirectStore } from '../../test/embedded/direct-store.ts';
import { openSession as openClientSession } from './open-session.ts';
import { createApprovals, type Approvals } from './approvals.ts';
import { createGrants, type Grants } from './grants.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const RITA: Principal = { kind: 'subject', name: 'acme/rita' };
const STRANGER: Principal = { kind: 'subject', name: 'acme/nobody' };
const REQUESTER: Principal = { kind: 'subject', name: 'acme/ann' };

let now: number;
let direct: DirectStore;
let store: Store;
let approvals: Approvals;
let grants: Grants;
beforeEach(async () => {
  now = 1_000_000_000_000;
  direct = openDirectStore({ now: () => now });
  store = direct.store;
  approvals = createApprovals(store, { retentionMs: HOUR_MS });
  grants = createGrants(store);
  await store.writePolicy({ expectedVersion: 0, policy: { ...CLOSED_POLICY, roles: { reviewers: ['acme/rita'] } } });
});
afterEach(() => direct.remove());

async function ask(overrides: AskOverrides = {}) {
  const session = await openSession(store, { tenant: 'acme', subject: 'ann' });
  const request = await askAbout(store, await holdOne(store, session), { ...overrides });
  return request.question;
}

const idsOf = (found: readonly Approval[]) => found.map(({ question }) => question.id);
const UNKNOWN = { code: 'APPROVAL_UNKNOWN' };

describe('client approvals', () => {
  it('reveal writes nothing to the audit for a question that masks nothing', async () => {
    const { id, callId, binding } = await ask();
    expect(await approvals.reveal(RITA, id, { binding })).toEqual({ kind: 'revealed' });
    expect(await approvals.reveal(RITA, id, { binding: 'f'.repeat(64) })).toEqual({ kind: 'mismatch' });
    const events = (await auditOf(store, callId)).map(({ event }) => event);
    expect(events).toEqual(['approval.requested']);
    const masked = await ask({ question: { masks: [{ of: 'arguments', pointer: '' }] } });
    expect(await approvals.reveal(RITA, masked.id, { binding: masked.binding })).toEqual({ kind: 'revealed' });
    expect((await auditOf(store, masked.callId)).map(({ event }) => event)).toContain('approval.revealed');
    await approvals.decide(RITA, id, { decision: 'deny', binding });
    expect(await approvals.reveal(RITA, id, { binding })).toEqual({ kind: 'already-decided', state: 'denied' });
  });

  it('list shows as many as asked for, however long they are; a page stops at its bytes', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
    for (let number = 0; number < 10; number += 1) await ask({ question: { arguments: long } });
    expect((await approvals.page(OPERATOR, { limit: 100 })).approvals.length).toBeLessThan(10);
    expect(await approvals.list(OPERATOR, { limit: 100 })).toHaveLength(10);
    expect(await approvals.list(OPERATOR, { limit: 9 })).toHaveLength(9);
  });

  it('list and get show a question only to operators, approvers and its requester', async () => {
    const question = await ask({ question: { detail: 'for reviewers' } });
    for (const approver of [OPERATOR, RITA]) {
      expect(idsOf(await approvals.list(approver))).toEqual([question.id]);
      expect((await approvals.get(approver, question.id)).question).toEqual(question);
    }
    const seen = await approvals.get(REQUESTER, question.id);
    expect(seen.question.title).toBe(question.title);
    expect(seen.question).not.toHaveProperty('detail');
    expect((await approvals.list(REQUESTER))[0]?.question).not.toHaveProperty('detail');
    expect(await approvals.list(STRANGER)).toEqual([]);
    await expect(approvals.get(STRANGER, question.id)).rejects.toMatchObject(UNKNOWN);
    await expect(approvals.wait(STRANGER, question.id)).rejects.toMatchObject(UNKNOWN);
    await expect(
      approvals.decide(STRANGER, question.id, { decision: 'deny', binding: question.binding }),
    ).rejects.toMatchObject(UNKNOWN);
  });

  it('list returns only the requested questions', async () => {
    const [first, second] = [await ask({ timeoutMs: 2 * HOUR_MS }), await ask({ timeoutMs: HOUR_MS })];
    await approvals.decide(RITA, first.id, { decision: 'deny', binding: first.binding });
    expect(idsOf(await approvals.list(RITA))).toEqual([second.id, first.id]);
    expect(idsOf(await approvals.list(RITA, { state: 'pending' }))).toEqual([second.id]);
    expect(idsOf(await approvals.list(RITA, { limit: 1 }))).toEqual([second.id]);
  });

  it('an id may be cut short as long as one visible pending approval is meant', async () => {
    const [first, second] = [await ask(), await ask()];
    const code = first.id.slice(first.id.lastIndexOf('.') + 1);
    expect((await approvals.get(RITA, code.slice(0, 8))).question.id).toBe(first.id);
    await expect(approvals.get(RITA, first.id.slice(0, 14))).rejects.toMatchObject(UNKNOWN);
    await expect(approvals.get(STRANGER, code.slice(0, 8))).rejects.toMatchObject(UNKNOWN);
    for (const asked of ['', code.slice(0, 3), '%%%%', '....', 'nobody-has-this']) {
      await expect(approvals.get(RITA, asked)).rejects.toMatchObject(UNKNOWN);
    }
    // After this decision only the second approval is pending, so the short id that was ambiguous now means that one.
    await approvals.decide(RITA, code.slice(0, 8), { decision: 'deny', binding: first.binding });
    expect((await approvals.get(RITA, first.id.slice(0, 14))).question.id).toBe(second.id);
  });

  it('decide allows a call, says who in the audit, and repeats itself', async () => {
    const question = await ask();
    const decision = { decision: 'allow-once', binding: question.binding, comment: 'fine' } as const;
    expect(await approvals.decide(RITA, question.id, decision)).toEqual({ kind: 'decided', state: 'allowed' });
    expect(await approvals.decide(RITA, question.id, decision)).toEqual({ kind: 'decided', state: 'allowed' });
    expect(await approvals.decide(OPERATOR, question.id, decision)).toEqual({
      kind: 'already-decided',
      state: 'allowed',
    });
    const decided = (await auditOf(store, question.callId)).find(({ event }) => event === 'approval.decided')!;
    expect(decode(decided.detail)).toMatchObject({
      approval: question.id,
      binding: question.binding,
      decision: 'allow-once',
      by: 'subject acme/rita',
      comment: 'fine',
      editedDigest: null,
      grant: null,
    });
    expect((await claimOne(store)).resumedWith).toMatchObject({ approval: question.id });
  });

  it('decide denies with a sentence that carries the comment to the model', async () => {
    const question = await ask();
    await approvals.decide(RITA, question.id, { decision: 'deny', binding: question.binding, comment: 'not today' });
    const outcome = decodeOutcome((await recordOf(store, question.callId)).outcome!);
    expect(outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'APPROVAL_DENIED' } });
    expect(outcome.error!.message).toMatch(/not today.*did not run.*final/s);
  });

  it('decide with another binding, by the requester, or with an unknown word decides nothing', async () => {
    const question = await ask();
    const { binding } = question;
    expect(await approvals.decide(RITA, question.id, { decision: 'deny', binding: 'x' })).toEqual({ kind: 'mismatch' });
    expect(await approvals.decide(REQUESTER, question.id, { decision: 'deny', binding })).toEqual({
      kind: 'not-yours',
    });
    await expect(approvals.decide(RITA, question.id, { decision: 'allow' as 'deny', binding })).rejects.toMatchObject({
      code: 'APPROVAL_INVALID',
    });
    await expect(
      approvals.decide(RITA, question.id, { decision: 'allow-once', binding, grant: {} }),
    ).rejects.toMatchObject({ code: 'APPROVAL_INVALID' });
    expect((await approvals.get(RITA, question.id)).state).toBe('pending');
  });

  it('decide with edited arguments keeps them canonical, and refuses what is no JSON', async () => {
    const question = await ask();
    const { binding } = question;
    const edited = { b: 1, a: [undefined] } as never;
    await expect(
      approvals.decide(RITA, question.id, { decision: 'allow-once', binding, arguments: edited }),
    ).rejects.toMatchObject({ code: 'APPROVAL_INVALID' });
    await approvals.decide(RITA, question.id, { decision: 'allow-once', binding, arguments: { b: 1, a: 'ä' } });
    expect((await approvals.get(RITA, question.id)).editedArguments).toBe('{"a":"ä","b":1}');
  });

  it('decide for always makes a grant, as narrow as it can be unless wished otherwise', async () => {
    const [first, second] = [await ask(), await ask()];
    const answer = await approvals.decide(RITA, first.id, { decision: 'allow-always', binding: first.binding });
    const options = { arguments: 'any', uses: 2, lifetimeMs: 1000 } as const;
    await approvals.decide(RITA, second.id, { decision: 'allow-always', binding: second.binding, grant: options });
    const listed = await grants.list(OPERATOR);
    expect(listed).toMatchObject([
      { usesLeft: 2, matches: { kind: 'any' }, expiresAt: now + 1000 },
      { id: (answer as { grant: string }).grant, matches: { kind: 'exact' }, agent: 'helper', by: RITA },
    ]);
    expect(await grants.list(REQUESTER)).toEqual(listed);
    expect(await grants.list(RITA)).toEqual(listed);
    expect(await grants.list(STRANGER)).toEqual([]);
    const { id } = listed[0]!;
    await expect(grants.revoke(STRANGER, id)).rejects.toMatchObject({ code: 'GRANT_UNKNOWN' });
    await expect(grants.revoke(OPERATOR, 'nonsense')).rejects.toMatchObject({ code: 'GRANT_UNKNOWN' });
    await grants.revoke(REQUESTER, id);
    await grants.revoke(OPERATOR, id);
    expect((await grants.list(OPERATOR))[0]).toMatchObject({ id, revoked: true });
  });

  it('wait answers as soon as it is decided, and with what stands when the time or the patience is up', async () => {
    const question = await ask();
    expect((await approvals.wait(RITA, question.id, { waitMs: 0 })).state).toBe('pending');
    expect((await approvals.wait(RITA, question.id, { signal: AbortSignal.abort() })).state).toBe('pending');
    const controller = new AbortController();
    const impatient = approvals.wait(RITA, question.id, { waitMs: 600_000, signal: controller.signal });
    controller.abort();
    expect((await impatient).state).toBe('pending');
    const waiting = approvals.wait(RITA, question.id, { waitMs: 600_000 });
    await approvals.decide(RITA, question.id, { decision: 'deny', binding: question.binding });
    expect(await waiting).toMatchObject({ state: 'denied', resolution: 'deny' });
  });

  it('wait after the decision gets it at once', async () => {
    const question = await ask();
    await approvals.decide(RITA, question.id, { decision: 'allow-once', binding: question.binding });
    expect(await approvals.wait(RITA, question.id, { waitMs: 600_000 })).toMatchObject({ resolution: 'allow-once' });
  });

  it('wait returns on an expiry too', async () => {
    const question = await ask({ timeoutMs: 1000 });
    const waiting = approvals.wait(RITA, question.id, { waitMs: 600_000 });
    now += 1000;
    await store.reapCalls(reapRequest(0));
    expect(await waiting).toMatchObject({ state: 'expired', resolution: 'timeout' });
    expect(await claimMany(store)).toEqual([]);
  });

  it('a session decides as its subject, with its token only, and as long as it lives', async () => {
    const question = await ask();
    const session = await openClientSession(
      store,
      { tenant: 'acme', subject: 'rita', agent: 'console' },
      unknownActor('client'),
    );
    const decision = { decision: 'deny', binding: question.binding } as const;
    const wrong = { kind: 'session', session: { ...session, token: 'wrong' } } as const;
    await expect(approvals.decide(wrong, question.id, decision)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    const approver = { kind: 'session', session } as const;
    expect(await approvals.decide(approver, question.id, decision)).toMatchObject({ kind: 'decided' });
    expect((await approvals.get(RITA, question.id)).votes).toMatchObject([{ by: RITA }]);
    await store.revokeSession({ session: session.id });
    await expect(approvals.list(approver)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
  });

  it.each([
    { kind: 'subject', name: 'rita' },
    { kind: 'subject', name: '/rita' },
    { kind: 'subject', name: 'acme/' },
    { kind: 'operator', name: '' },
    { kind: 'operator', name: 'a\nb' },
    { kind: 'operator', name: 'x'.repeat(601) },
    { kind: 'operator', name: '\ud800' },
    { kind: 'root', name: 'root' },
    { kind: 'operator', name: 7 },
  ])('refuses a principal that is none: %j', async (approver) => {
    await expect(approvals.list(approver as Principal)).rejects.toMatchObject({ code: 'APPROVAL_INVALID' });
  });
});
