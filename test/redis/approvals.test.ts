import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import {
  allow,
  askAbout,
  askRequest,
  BOB,
  cancelRequest,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  holdOne,
  newGrant,
  openSession,
  ownedBy,
  reapRequest,
  settleRequest,
} from '../contract/fixtures.ts';
import { auditOf, recordOf, storeTimePasses } from '../contract/observe.ts';
import { startChaosProxy } from '../support/chaos-proxy.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let store: Store;
let name: string;
beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  name = `approvals-${randomId()}`;
  store = await openRedisStore({ url: server.url, name, lanes: 2 });
});
afterEach(async () => {
  await server.cli('CONFIG', 'SET', 'maxmemory', '0');
  await store.close();
  await server.cli('FLUSHALL');
});
afterAll(async () => {
  await server.stop();
  failOnLeaks();
});

const keys = async (): Promise<string[]> =>
  (await server.cli('KEYS', `{${name}*`))
    .split('\n')
    .filter((key) => key !== '')
    .sort();

describe('approvals on Redis', () => {
  it('leave no key behind when their calls are forgotten and their grants have expired', async () => {
    const session = await openSession(store);
    await store.settleCall(settleRequest(await holdOne(store, session), encodedOutcome('ok'), { retentionMs: 20 }));
    await storeTimePasses(store, 60);
    await store.reapCalls(reapRequest(session.lane));
    const before = await keys();
    const retentionMs = 20;

    const ended = [];
    for (let index = 0; index < 4; index += 1) {
      const wish = { callback: true, timeoutMs: index === 3 ? 20 : 60_000 };
      ended.push(await askAbout(store, await holdOne(store, session), wish));
    }
    const [allowed, denied, cancelled] = ended as [(typeof ended)[0], (typeof ended)[0], (typeof ended)[0]];
    const grant = newGrant(allowed, { lifetimeMs: 40 });
    await store.decideApproval(decideRequest(allowed, 'allow-always', { grant, editedArguments: '{}' }));
    const second = await claimOne(store, { lane: session.lane });
    await store.useGrant({ id: grant.id, owned: ownedBy(second), audit: detail('used') });
    await allow(store, await askAbout(store, second));
    await store.decideApproval(decideRequest(denied, 'deny', { retentionMs }));
    await store.cancelCall(cancelRequest(cancelled.callId, { retentionMs }));
    const resumed = await claimOne(store, { lane: session.lane });
    await store.settleCall(settleRequest(resumed, encodedOutcome('ok'), { retentionMs }));
    const claim = { lane: session.lane, workerId: newWorkerId(), claimId: randomId(), limit: 1, leaseMs: 60_000 };
    expect(await store.claimCallbacks(claim)).toHaveLength(1);
    await storeTimePasses(store, 60);
    // The retention is longer than the next check takes, on a busy machine too.
    await store.reapCalls(reapRequest(session.lane, { retentionMs: 1000 }));
    expect(await store.listApprovals({ limit: 10 })).toMatchObject([{ state: 'expired' }]);
    await storeTimePasses(store, 1000);
    await store.reapCalls(reapRequest(session.lane, { retentionMs }));
    // The record of what a run has tried is deleted with the run.
    await store.endRun({ session: session.id, run: session.run });
    expect(await keys()).toEqual(before.filter((key) => !key.endsWith(':runs')));
    const meta = await server.cli('HMGET', `{${name}:${session.lane}}:meta`, 'liveBytes', 'retainedBytes');
    expect(meta.split('\n')).toEqual(['0', '0']);
  });

  it('can be decided, cancelled and used up at the memory limit, but not asked for', async () => {
    const session = await openSession(store);
    const [denied, allowed, cancelled] = [
      await askAbout(store, await holdOne(store, session), { callback: true }),
      await askAbout(store, await holdOne(store, session)),
      await askAbout(store, await holdOne(store, session)),
    ];
    const held = await holdOne(store, session);
    await server.cli('CONFIG', 'SET', 'maxmemory', '1');
    const request = askRequest(held);
    await expect(store.askApproval(request)).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(await store.readApproval(request.question.id)).toBeUndefined();
    expect((await recordOf(store, held.callId)).state).toBe('queued');
    const decided = { kind: 'decided' };
    expect(await store.decideApproval(decideRequest(denied, 'deny'))).toMatchObject(decided);
    const grant = newGrant(allowed, { usesLeft: 1 });
    expect(await store.decideApproval(decideRequest(allowed, 'allow-always', { grant }))).toMatchObject(decided);
    expect(await store.cancelCall(cancelRequest(cancelled.callId))).toBe('cancelled');
    expect(await store.useGrant({ id: grant.id, owned: ownedBy(held), audit: detail('used') })).toBe('used');
    expect(await store.revokeGrant({ id: grant.id, audit: detail('revoked') })).toBe('revoked');
    const workerId = newWorkerId();
    const claim = { lane: session.lane, workerId, claimId: randomId(), limit: 5, leaseMs: 1000 };
    expect(await store.claimCallbacks(claim)).toHaveLength(1);
    await store.finishCallback({ id: denied.question.id, workerId });
    expect(await store.settleCall(settleRequest(held))).toBe('settled');
  });

  it('go on after every lost answer as if it had come: asked, counted, decided, granted, used, claimed, revoked once', async () => {
    const proxy = await startChaosProxy({ port: server.port });
    const shaky = await openRedisStore({ url: proxy.url, name, commandTimeoutMs: 2000 });
    const losing = async <Answer>(request: string, act: () => Promise<Answer>): Promise<Answer> => {
      await proxy.setMode({ kind: 'drop-reply', request: `sp1_${request}` });
      return act();
    };
    const session = await openSession(store);
    const asked = askRequest(await holdOne(store, session), { callback: true, question: { quorum: 2 } });
    expect(await losing('ask_approval', () => shaky.askApproval(asked))).toMatchObject({ kind: 'asked' });
    const yes = decideRequest(asked, 'allow-always');
    expect(await losing('decide_approval', () => shaky.decideApproval(yes))).toEqual({ kind: 'counted', missing: 1 });
    const grant = newGrant(asked, { usesLeft: 1 });
    const last = decideRequest(asked, 'allow-always', { by: BOB, grant });
    expect(await losing('decide_approval', () => shaky.decideApproval(last))).toEqual({
      kind: 'decided',
      state: 'allowed',
      grant: grant.id,
    });
    const delivery = await claimOne(store, { lane: session.lane });
    const use = { id: grant.id, owned: ownedBy(delivery), audit: detail('used') };
    expect(await losing('use_grant', () => shaky.useGrant(use))).toBe('used');
    const claim = { lane: session.lane, workerId: newWorkerId(), claimId: randomId(), limit: 5, leaseMs: 60_000 };
    expect(await losing('claim_callbacks', () => shaky.claimCallbacks(claim))).toHaveLength(1);
    const { id } = asked.question;
    await losing('finish_callback', () => shaky.finishCallback({ id, workerId: claim.workerId }));
    const revoke = { id: grant.id, audit: detail('revoked') };
    expect(await losing('revoke_grant', () => shaky.revokeGrant(revoke))).toBe('revoked');
    const denied = await askAbout(store, await holdOne(store, session));
    const no = decideRequest(denied, 'deny');
    const answer = await losing('decide_approval', () => shaky.decideApproval(no));
    expect(answer).toEqual({ kind: 'decided', state: 'denied' });
    expect(proxy.counts.droppedReplies).toBe(8);

    expect(await store.readApproval(id)).toMatchObject({ state: 'allowed', callback: 'done', votes: [{}, {}] });
    expect(await store.readGrant(grant.id)).toMatchObject({ usesLeft: 0, revoked: true });
    expect((await auditOf(store, asked.callId)).map(({ event }) => event)).toEqual([
      'approval.requested',
      'approval.voted',
      'approval.decided',
      'grant.created',
      'grant.used',
      'grant.revoked',
    ]);
    expect((await auditOf(store, denied.callId)).map(({ event }) => event)).toEqual([
      'approval.requested',
      'approval.decided',
      'call.settled',
    ]);
    await shaky.close();
    await proxy.stop();
  });

  it('that were deleted by hand leave a call that can be cancelled and ends at its expiry', async () => {
    const session = await openSession(store);
    const [first, second] = [
      await askAbout(store, await holdOne(store, session)),
      await askAbout(store, await holdOne(store, session), { timeoutMs: 20 }),
    ];
    for (const { question } of [first, second]) {
      await server.cli('DEL', `{${name}:${session.lane}}:approval:${question.id}`);
    }
    expect(await store.decideApproval(decideRequest(first))).toEqual({ kind: 'unknown' });
    expect(await store.cancelCall(cancelRequest(first.callId))).toBe('cancelled');
    await storeTimePasses(store, 25);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([second.callId]);
    expect(await store.listApprovals({ limit: 10 })).toEqual([]);
    expect(await keys()).not.toContain(`{${name}:${session.lane}}:parked:${session.id}`);
  });

  it('whose key holds something else are not asked, and nothing of the call has moved', async () => {
    const session = await openSession(store);
    const held = await holdOne(store, session);
    const request = askRequest(held);
    for (const key of ['approvals:pending', `parked:${session.id}`, `approval:${request.question.id}`]) {
      const whole = `{${name}:${session.lane}}:${key}`;
      await server.cli('SET', whole, 'text');
      await expect(store.askApproval(request)).rejects.toMatchObject({ code: 'STORE_FAILED' });
      await server.cli('DEL', whole);
      expect((await recordOf(store, held.callId)).state).toBe('queued');
    }
    expect(await store.askApproval(request)).toMatchObject({ kind: 'asked' });
  });
});
