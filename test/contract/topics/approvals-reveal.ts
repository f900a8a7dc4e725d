import { expect, it } from 'vitest';
import type { ApprovalQuestion, QuestionMask } from '../../../src/domain/policy/approval.ts';
import type { RevealRequest } from '../../../src/domain/ports/approval-store.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import {
  ALICE,
  allow,
  askAbout,
  BOB,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  detail,
  holdOne,
  newGrant,
  openSession,
  OPERATOR,
} from '../fixtures.ts';
import { auditEvents, auditOf, sameBytes, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

const MASKS: readonly QuestionMask[] = [{ of: 'arguments', pointer: '/key' }];
const NOT_REVEALED = { kind: 'not-revealed' };

interface Asked {
  readonly question: ApprovalQuestion;
}

function revealRequest({ question }: Asked, overrides: Partial<RevealRequest> = {}): RevealRequest {
  return { id: question.id, binding: question.binding, by: ALICE, audit: detail('seen'), ...overrides };
}

async function askMasked(store: Store, question: Partial<ApprovalQuestion> = {}) {
  const session = await openSession(store);
  const parked = await holdOne(store, session);
  const asked = await askAbout(store, parked, { question: { masks: MASKS, ...question } });
  return { asked, parked, lane: session.lane, session };
}

export function describeRevealing(scene: Scene): void {
  it('a masked question is allowed only by an approver who has revealed it', async () => {
    const store = await scene.open();
    const { asked, parked, lane } = await askMasked(store);
    const grant = newGrant(asked);
    for (const request of [
      decideRequest(asked, 'allow-once'),
      decideRequest(asked, 'allow-always', { grant }),
      decideRequest(asked, 'allow-once', { editedArguments: '{"key":"other"}' }),
      decideRequest(asked, 'allow-once', { by: OPERATOR }),
    ]) {
      expect(await store.decideApproval(request)).toEqual(NOT_REVEALED);
    }
    expect((await store.readApproval(asked.question.id))!).toMatchObject({
      state: 'pending',
      votes: [],
      revealedBy: [],
    });
    expect(await store.readGrant(grant.id)).toBeUndefined();
    expect(await claimMany(store, { lane })).toEqual([]);

    expect(await store.revealApproval(revealRequest(asked))).toEqual({ kind: 'revealed' });
    expect(await store.decideApproval(decideRequest(asked, 'allow-once', { by: BOB }))).toEqual(NOT_REVEALED);
    expect((await store.readApproval(asked.question.id))!.revealedBy).toEqual([ALICE]);
    await allow(store, asked);
    expect((await claimOne(store, { lane })).callId).toBe(parked.callId);
    const [, revealed] = await auditOf(store, parked.callId);
    expect(revealed).toMatchObject({
      event: 'approval.revealed',
      approval: asked.question.id,
      detail: sameBytes(detail('seen')),
    });
  });

  it('a masked question can be denied without a reveal', async () => {
    const store = await scene.open();
    const { asked } = await askMasked(store);
    expect(await store.decideApproval(decideRequest(asked, 'deny'))).toEqual({ kind: 'decided', state: 'denied' });
  });

  it('a reveal counts once per principal and for no other one, also in a quorum', async () => {
    const store = await scene.open();
    const { asked, parked } = await askMasked(store, { quorum: 2 });
    // An operator with the same name is another principal.
    const namesake = { kind: 'operator', name: ALICE.name } as const;
    for (let times = 0; times < 2; times += 1) {
      expect(await store.revealApproval(revealRequest(asked))).toEqual({ kind: 'revealed' });
    }
    expect(await auditEvents(store, parked.callId)).toEqual(['approval.requested', 'approval.revealed']);
    expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'counted', missing: 1 });
    for (const by of [BOB, namesake, { ...ALICE, name: 'acme/alic' }, { ...ALICE, name: 'acme/alice2' }]) {
      expect(await store.decideApproval(decideRequest(asked, 'allow-once', { by }))).toEqual(NOT_REVEALED);
    }
    expect(await store.revealApproval(revealRequest(asked, { by: BOB }))).toEqual({ kind: 'revealed' });
    expect((await store.readApproval(asked.question.id))!.revealedBy).toEqual([ALICE, BOB]);
    await allow(store, asked, { by: BOB });
  });

  it('a reveal of one question counts for no other, also about the same call', async () => {
    const store = await scene.open();
    const { asked: first, lane, session } = await askMasked(store);
    await store.revealApproval(revealRequest(first));
    await allow(store, first);
    const again = await askAbout(store, await claimOne(store, { lane }), { question: { masks: MASKS } });
    expect(await store.decideApproval(decideRequest(again))).toEqual(NOT_REVEALED);
    const other = await askAbout(store, await holdOne(store, session), { question: { masks: MASKS } });
    expect(await store.decideApproval(decideRequest(other))).toEqual(NOT_REVEALED);
  });

  it('a reveal that names another binding, by the requester, or of no question, reveals nothing', async () => {
    const store = await scene.open();
    const { asked, parked } = await askMasked(store);
    const { tenant, subject } = asked.question.identity;
    const requester = { kind: 'subject', name: `${tenant}/${subject}` } as const;
    const reveal = (overrides: Partial<RevealRequest>) => store.revealApproval(revealRequest(asked, overrides));
    expect(await reveal({ binding: 'f'.repeat(64) })).toEqual({ kind: 'mismatch' });
    expect(await reveal({ by: requester })).toEqual({ kind: 'not-yours' });
    const nowhere = `${asked.question.id.slice(0, -4)}AAAA` as typeof asked.question.id;
    expect(await reveal({ id: nowhere })).toEqual({ kind: 'unknown' });
    await expect(reveal({ by: { ...BOB, name: '' } })).rejects.toMatchObject({ code: 'APPROVAL_INVALID' });
    expect((await store.readApproval(asked.question.id))!.revealedBy).toEqual([]);
    expect(await auditEvents(store, parked.callId)).toEqual(['approval.requested']);
  });

  it('nothing is revealed of a question that is decided, cancelled, too late, or without its session', async () => {
    const store = await scene.open();
    const { asked: denied } = await askMasked(store);
    await store.decideApproval(decideRequest(denied, 'deny'));
    expect(await store.revealApproval(revealRequest(denied))).toEqual({ kind: 'already-decided', state: 'denied' });

    const { asked: cancelled, parked } = await askMasked(store);
    await store.cancelCall(cancelRequest(parked.callId));
    expect(await store.revealApproval(revealRequest(cancelled))).toMatchObject({ state: 'cancelled' });

    const session = await openSession(store);
    const late = await askAbout(store, await holdOne(store, session), { question: { masks: MASKS }, timeoutMs: 20 });
    await storeTimePasses(store, 30);
    expect(await store.revealApproval(revealRequest(late))).toEqual({ kind: 'already-decided', state: 'expired' });

    const { asked: orphan, session: ended } = await askMasked(store);
    await store.revokeSession({ session: ended.id });
    expect(await store.revealApproval(revealRequest(orphan))).toEqual({ kind: 'already-decided', state: 'cancelled' });
  });

  it('a question without a list of masks, as older releases wrote them, needs a reveal', async () => {
    const store = await scene.open();
    // JSON leaves out undefined values, so the stored question has no `masks`.
    const { asked } = await askMasked(store, { masks: undefined } as unknown as Partial<ApprovalQuestion>);
    expect(await store.decideApproval(decideRequest(asked))).toEqual(NOT_REVEALED);
    await store.revealApproval(revealRequest(asked));
    await allow(store, asked);
  });
}
