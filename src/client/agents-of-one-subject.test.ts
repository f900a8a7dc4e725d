import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unknownActor } from '../domain/identity/actor.ts';
import type { Principal } from '../domain/policy/approval.ts';
import { CLOSED_POLICY } from '../domain/policy/policy.ts';
import type { SessionHandle } from '../domain/identity/session.ts';
import { createEventBus } from '../observe/event-bus.ts';
import type { Store } from '../domain/ports/store.ts';
import { sha256 } from '../base/sha256.ts';
import {
  askAbout,
  HOUR_MS,
  holdOne,
  ROOMY,
  settleRequest,
  type AskOverrides,
  type TestSession,
} from '../../test/contract/fixtures.ts';
import { openDirectStore, type DirectStore } from '../../test/embedded/direct-store.ts';
import { createClient } from './client.ts';

const SUBJECT = { tenant: 'acme', subject: 'ann' };
const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const ALWAYS: AskOverrides = { question: { decisions: ['allow-once', 'allow-always', 'deny'] } };
const CALL_UNKNOWN = { code: 'CALL_UNKNOWN' };

let direct: DirectStore;
let store: Store;
let client: ReturnType<typeof createClient>;
let main: SessionHandle;
let other: SessionHandle;
let helper: SessionHandle;
beforeEach(async () => {
  direct = openDirectStore();
  store = direct.store;
  const settings = { admission: ROOMY, retentionMs: HOUR_MS, events: createEventBus(), actor: unknownActor('client') };
  client = createClient(store, settings);
  await store.writePolicy({ expectedVersion: 0, policy: CLOSED_POLICY });
  main = await client.openSession({ ...SUBJECT, agent: 'main' });
  other = await client.openSession({ ...SUBJECT, agent: 'other' });
  helper = await client.openSession({ ...SUBJECT, agent: 'other', delegatedBy: main });
});
afterEach(async () => {
  await client.close();
  direct.remove();
});

/** The session in the form that the fixtures of the store contract use. */
async function toTestSession({ id, run, token, expiresAt }: SessionHandle): Promise<TestSession> {
  const { identity } = (await store.readSession(id))!;
  return { id, run, lane: 0, identity, tokenDigest: sha256(token), expiresAt };
}
const hold = async (session: SessionHandle) => holdOne(store, await toTestSession(session));
const ask = async (session: SessionHandle, overrides: AskOverrides = {}) =>
  (await askAbout(store, await hold(session), overrides)).question;

describe('agents of one subject', () => {
  it('result and wait find no call of another agent, under way or settled', async () => {
    const underWay = await hold(main);
    const settled = await hold(main);
    await store.settleCall(settleRequest(settled));
    for (const { callId } of [underWay, settled]) {
      for (const stranger of [other, helper]) {
        await expect(client.result(stranger, callId)).rejects.toMatchObject(CALL_UNKNOWN);
        await expect(client.wait(stranger, callId, { waitMs: 0 })).rejects.toMatchObject(CALL_UNKNOWN);
        await expect(client.cancel(stranger, callId)).rejects.toMatchObject(CALL_UNKNOWN);
      }
    }
    expect(await client.result(main, settled.callId)).toMatchObject({ kind: 'settled' });
    const again = await client.openSession({ ...SUBJECT, agent: 'main' });
    expect(await client.result(again, underWay.callId)).toMatchObject({ kind: 'pending' });
  });

  it('a delegator reads what its delegate called, and the same agent alone does not', async () => {
    const { callId } = await hold(helper);
    expect(await client.result(main, callId)).toMatchObject({ kind: 'pending' });
    await expect(client.result(other, callId)).rejects.toMatchObject(CALL_UNKNOWN);
    expect(await client.cancel(main, callId)).toBe('cancelled');
  });

  it('a session sees no question of another agent, also if the requester may decide', async () => {
    const question = { requesterMayDecide: true, approvers: [['acme/ann']] };
    const asked = await ask(main, { question });
    const { id, binding } = asked;
    for (const session of [other, helper]) {
      const viewer = { kind: 'session', session } as const;
      expect(await client.approvals.list(viewer)).toEqual([]);
      await expect(client.approvals.get(viewer, id)).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' });
      const decision = client.approvals.decide(viewer, id, { decision: 'deny', binding });
      await expect(decision).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' });
    }
    const own = { kind: 'session', session: main } as const;
    expect((await client.approvals.list(own)).map((approval) => approval.question.id)).toEqual([id]);
    expect(await client.approvals.decide(own, id, { decision: 'deny', binding })).toMatchObject({ kind: 'decided' });
    const ofDelegate = await ask(helper);
    expect((await client.approvals.get(own, ofDelegate.id)).question.id).toBe(ofDelegate.id);
  });

  it('a session sees no grant for another agent', async () => {
    // Both questions are asked before the first is allowed: an allowed call goes back to the queue, where the fixture would claim it
    // instead of the second one.
    const questions = [await ask(main, ALWAYS), await ask(main, ALWAYS)] as const;
    const grantOf = async ({ id, binding }: (typeof questions)[0], anyAgent: boolean): Promise<string> => {
      const grant = { arguments: 'any', anyAgent } as const;
      const answer = await client.approvals.decide(OPERATOR, id, { decision: 'allow-always', binding, grant });
      return (answer as { grant: string }).grant;
    };
    const [one, all] = [await grantOf(questions[0], false), await grantOf(questions[1], true)];
    const seen = async (session: SessionHandle): Promise<string[]> =>
      (await client.grants.list({ kind: 'session', session })).map(({ id }) => id).sort();
    expect(await seen(main)).toEqual([one, all].sort());
    expect(await seen(other)).toEqual([all]);
    const revoking = client.grants.revoke({ kind: 'session', session: other }, one);
    await expect(revoking).rejects.toMatchObject({ code: 'GRANT_UNKNOWN' });
  });
});
