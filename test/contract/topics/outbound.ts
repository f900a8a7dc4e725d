import { expect, it } from 'vitest';
import { effectKey, RESULT_NAME, type EffectKey } from '../../../src/domain/platform/platform-effect.ts';
import { newCallerId, randomId } from '../../../src/domain/identity/new-id.ts';
import { decode } from '../../../src/base/message-pack.ts';
import { acceptOne, holdOne, HOUR_MS, openSession, settleRequest } from '../fixtures.ts';
import { reclaimOne, sameBytes, storeTimePasses } from '../observe.ts';
import {
  bodyOf,
  CHANNEL,
  claimEffectsRequest,
  DELIVERED,
  finishRequest,
  ORIGIN,
  PLATFORM,
  publishRequest,
} from '../outbound-fixtures.ts';
import type { Scene } from '../scene.ts';

const SHORT_LEASE_MS = 20;

export function describeOutbound(scene: Scene): void {
  it('an effect of the owner is queued, claimed with its body, and ends with what the adapter answered', async () => {
    const [worker, gateway] = await scene.openPair();
    const session = await openSession(worker);
    const held = await holdOne(worker, session);
    const { key } = publishRequest(held);
    expect(await worker.publishEffect(publishRequest(held))).toEqual({ kind: 'published' });
    expect(await worker.readEffect(key)).toMatchObject({ state: 'queued', attempts: 0 });
    const { effects } = await gateway.claimEffects(claimEffectsRequest(session.lane));
    expect(effects).toMatchObject([
      { key, callId: held.callId, kind: 'send', platform: PLATFORM, channel: CHANNEL, origin: ORIGIN, attempts: 1 },
    ]);
    expect(effects[0]!.body).toEqual(sameBytes(bodyOf('effect 1')));
    expect(await gateway.finishEffect(finishRequest(effects[0]!))).toBe('finished');
    const ended = await worker.readEffect(key);
    expect(ended).toMatchObject({ state: 'delivered' });
    expect(decode(ended!.answer!)).toEqual({ messageId: 'm1' });
    expect(ended!.body).toBeUndefined();
  });

  it('an effect of a worker that lost the call is refused, and nothing is queued', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    const again = await reclaimOne(store, held);
    expect(await store.publishEffect(publishRequest(held))).toEqual({ kind: 'fenced' });
    expect(await store.readEffect(publishRequest(held).key)).toBeUndefined();
    expect(await store.publishEffect(publishRequest(again))).toEqual({ kind: 'published' });
  });

  it('an effect of a call that is settled, or of no call, is refused', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    await store.settleCall(settleRequest(held));
    expect(await store.publishEffect(publishRequest(held))).toEqual({ kind: 'fenced' });
    const other = { ...held, callId: `${held.callId.slice(0, -1)}${held.callId.endsWith('A') ? 'B' : 'A'}` };
    expect(await store.publishEffect(publishRequest(other as typeof held))).toEqual({ kind: 'fenced' });
  });

  it('a known effect key is not published again, by any owner of the call', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    await store.publishEffect(publishRequest(held));
    expect(await store.publishEffect(publishRequest(held))).toEqual({ kind: 'known', state: 'queued' });
    const [effect] = (await store.claimEffects(claimEffectsRequest(session.lane))).effects;
    await store.finishEffect(finishRequest(effect!));
    const again = await reclaimOne(store, held);
    const changed = publishRequest(again, 1, { body: bodyOf('said otherwise') });
    expect(await store.publishEffect(changed)).toEqual({ kind: 'known', state: 'delivered' });
    expect((await store.claimEffects(claimEffectsRequest(session.lane))).effects).toEqual([]);
  });

  it('a known key with another kind or target is a conflict', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    await store.publishEffect(publishRequest(held));
    for (const other of [{ kind: 'react' }, { channel: 'elsewhere' }, { platform: 'mail' }] as const) {
      expect(await store.publishEffect(publishRequest(held, 1, other))).toEqual({ kind: 'conflict' });
    }
  });

  it('effects of one call are claimed one after the other, those of two calls side by side', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [one, two] = [await holdOne(store, session), await holdOne(store, session)];
    for (const name of [1, 2, 'third']) await store.publishEffect(publishRequest(one, name));
    await store.publishEffect(publishRequest(two));
    const claim = async () => (await store.claimEffects(claimEffectsRequest(session.lane))).effects;
    const first = await claim();
    expect(first.map(({ key }) => key).sort()).toEqual([effectKey(one.callId, 1), effectKey(two.callId, 1)].sort());
    expect(await claim()).toEqual([]);
    // The head was given back for a later retry. The effects behind it still wait.
    const head = first.find(({ callId }) => callId === one.callId)!;
    await store.finishEffect(finishRequest(head, { kind: 'retry', problem: 'busy', afterMs: HOUR_MS }));
    expect(await claim()).toEqual([]);
    expect(await store.readEffect(head.key)).toMatchObject({ state: 'queued', problem: 'busy', attempts: 1 });
  });

  it('the next effect of a call is free once the one before has ended, delivered or failed', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    for (const name of [1, 2, 3]) await store.publishEffect(publishRequest(held, name));
    const order: string[] = [];
    for (const ending of [DELIVERED, { kind: 'failed', problem: 'no such channel' } as const, DELIVERED]) {
      const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
      order.push(...effects.map(({ key }) => key));
      await store.finishEffect(finishRequest(effects[0]!, ending));
    }
    expect(order).toEqual([1, 2, 3].map((name) => effectKey(held.callId, name)));
    const failed = await store.listEffects({ state: 'failed', limit: 10 });
    expect(failed).toMatchObject([{ key: order[1], problem: 'no such channel' }]);
    expect(failed[0]!.body).toBeDefined();
  });

  it('a claim that is repeated gives the same effects and takes no others', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await store.publishEffect(publishRequest(await holdOne(store, session)));
    const request = claimEffectsRequest(session.lane);
    const first = await store.claimEffects(request);
    await store.publishEffect(publishRequest(await holdOne(store, session)));
    expect((await store.claimEffects(request)).effects).toEqual(first.effects);
    expect(first.effects).toHaveLength(1);
  });

  it('only the last claimant finishes an effect, and may say it twice', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await store.publishEffect(publishRequest(await holdOne(store, session)));
    const claim = (gatewayId: string, leaseMs: number) =>
      store.claimEffects(claimEffectsRequest(session.lane, { gatewayId, leaseMs }));
    const [lost] = (await claim('gateway-one', SHORT_LEASE_MS)).effects;
    await storeTimePasses(store, SHORT_LEASE_MS);
    const [taken] = (await claim('gateway-two', HOUR_MS)).effects;
    expect(taken).toMatchObject({ key: lost!.key, attempts: 2 });
    expect(await store.finishEffect(finishRequest(lost!))).toBe('lost');
    expect(await store.finishEffect(finishRequest({ ...lost!, attempts: 2 }))).toBe('lost');
    const own = finishRequest(taken!, DELIVERED, { gatewayId: 'gateway-two' });
    expect(await store.finishEffect(own)).toBe('finished');
    expect(await store.finishEffect(own)).toBe('finished');
    const other = { kind: 'failed', problem: 'after all' } as const;
    expect(await store.finishEffect(finishRequest(taken!, other, { gatewayId: 'gateway-two' }))).toBe('lost');
  });

  it('a raw operation, and an effect of a platform that knows no keys, fail with their lost gateway', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [raw, plain] = [await holdOne(store, session), await holdOne(store, session)];
    await store.publishEffect(publishRequest(raw, 1, { kind: 'call' }));
    await store.publishEffect(publishRequest(plain, 1, { platform: 'forgetful' }));
    const platforms = [
      { name: PLATFORM, redeliver: true },
      { name: 'forgetful', redeliver: false },
    ];
    const claim = () => store.claimEffects(claimEffectsRequest(session.lane, { platforms, leaseMs: SHORT_LEASE_MS }));
    expect((await claim()).effects).toHaveLength(2);
    await storeTimePasses(store, SHORT_LEASE_MS);
    expect((await claim()).effects).toEqual([]);
    for (const { callId } of [raw, plain]) {
      const problem = 'the gateway that had it was lost; it may have been delivered';
      expect(await store.readEffect(effectKey(callId, 1))).toMatchObject({ state: 'failed', problem });
    }
  });

  it('an effect that was not delivered in time fails, also on a platform without a gateway', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    await store.publishEffect(publishRequest(held, 1, { platform: 'nowhere', deliverWithinMs: SHORT_LEASE_MS }));
    await store.publishEffect(publishRequest(held, 2));
    await storeTimePasses(store, SHORT_LEASE_MS);
    const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
    expect(effects.map(({ key }) => key)).toEqual([effectKey(held.callId, 2)]);
    expect(await store.readEffect(effectKey(held.callId, 1))).toMatchObject({
      state: 'failed',
      problem: 'it was not delivered in time',
    });
  });

  it('a waiter for an effect gets an event when it has ended', async () => {
    const [worker, gateway] = await scene.openPair();
    const session = await openSession(worker);
    const held = await holdOne(worker, session);
    const [first, waiter] = [
      { callerId: newCallerId(), correlationId: '1' },
      { callerId: newCallerId(), correlationId: '7' },
    ];
    await worker.publishEffect(publishRequest(held, 1, { waiter: first }));
    // Published again, as the next owner would: only the last waiter gets the answer.
    await worker.publishEffect(publishRequest(held, 1, { waiter }));
    const { effects } = await gateway.claimEffects(claimEffectsRequest(session.lane));
    await gateway.finishEffect(finishRequest(effects[0]!));
    const take = (callerId: typeof waiter.callerId, waitMs: number) =>
      worker.takeReplies({ lane: session.lane, callerId, acknowledged: [], waitMs });
    const replies = await take(waiter.callerId, 5000);
    expect(replies.flatMap(({ items }) => items)).toMatchObject([{ kind: 'event', correlationId: '7' }]);
    expect(await take(first.callerId, 0)).toEqual([]);
  });

  it('a claim that waits gets an effect as soon as it is published', async () => {
    const [worker, gateway] = await scene.openPair();
    const session = await openSession(worker);
    const held = await holdOne(worker, session);
    // The wait is longer than a test may take, so only the wake-up can answer the request.
    const claiming = gateway.claimEffects(claimEffectsRequest(session.lane, { waitMs: 600_000 }));
    await worker.publishEffect(publishRequest(held));
    expect((await claiming).effects).toHaveLength(1);
  });

  it('more bytes than may wait are refused, and fit again when some have gone out', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    const body = bodyOf('x'.repeat(1000));
    const more = { body, maxQueuedBytes: 1500 };
    expect(await store.publishEffect(publishRequest(held, 1, more))).toEqual({ kind: 'published' });
    expect(await store.publishEffect(publishRequest(held, 2, more))).toEqual({ kind: 'full' });
    const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
    await store.finishEffect(finishRequest(effects[0]!));
    expect(await store.publishEffect(publishRequest(held, 2, more))).toEqual({ kind: 'published' });
  });

  it('kept bodies are bounded: the oldest goes first, its record stays', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const kept = { ...DELIVERED, keep: true } as const;
    const keys: EffectKey[] = [];
    for (const _ of [1, 2, 3]) {
      const held = await holdOne(store, session);
      await store.publishEffect(publishRequest(held, 1, { body: bodyOf('x'.repeat(1000)) }));
      const [effect] = (await store.claimEffects(claimEffectsRequest(session.lane))).effects;
      await storeTimePasses(store, 1);
      await store.finishEffect(finishRequest(effect!, kept, { maxKeptBytes: 2500 }));
      keys.push(effect!.key);
    }
    const bodies = await Promise.all(keys.map(async (key) => (await store.readEffect(key))?.body !== undefined));
    expect(bodies).toEqual([false, true, true]);
    expect((await store.listEffects({ platform: PLATFORM, limit: 10 })).map(({ key }) => key).sort()).toEqual(
      keys.sort(),
    );
  });

  it('an ended effect is forgotten after its retention, but not while its call may run again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const long = await holdOne(store, session);
    const short = await holdOne(store, session, { deadlineMs: SHORT_LEASE_MS });
    for (const held of [long, short]) await store.publishEffect(publishRequest(held));
    const retentionMs = SHORT_LEASE_MS;
    const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
    for (const effect of effects) await store.finishEffect(finishRequest(effect, DELIVERED, { retentionMs }));
    await storeTimePasses(store, SHORT_LEASE_MS);
    await store.claimEffects(claimEffectsRequest(session.lane));
    expect(await store.readEffect(effectKey(short.callId, 1))).toBeUndefined();
    expect(await store.readEffect(effectKey(long.callId, 1))).toMatchObject({ state: 'delivered' });
  });

  it('an operator sends a failed effect again; a raw operation is not', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [held, raw] = [await holdOne(store, session), await holdOne(store, session)];
    await store.publishEffect(publishRequest(held));
    await store.publishEffect(publishRequest(raw, 1, { kind: 'call' }));
    const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
    const key = effectKey(held.callId, 1);
    expect(await store.retryEffect(key)).toBe('not-failed');
    for (const effect of effects)
      await store.finishEffect(finishRequest(effect, { kind: 'failed', problem: 'broken' }));
    expect(await store.retryEffect(effectKey(raw.callId, 1))).toBe('not-failed');
    expect(await store.retryEffect(effectKey(raw.callId, 2))).toBe('unknown');
    expect(await store.retryEffect(key)).toBe('queued');
    const again = (await store.claimEffects(claimEffectsRequest(session.lane))).effects;
    expect(again).toMatchObject([{ key, attempts: 2, attemptsBefore: 1 }]);
    expect(again[0]!.body).toEqual(sameBytes(bodyOf('effect 1')));
    expect(await store.finishEffect(finishRequest(again[0]!))).toBe('finished');
  });

  it('effects are listed newest first, by platform, channel and state', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    for (const name of [1, 2]) {
      await store.publishEffect(publishRequest(held, name));
      await storeTimePasses(store, 1);
    }
    await store.publishEffect(publishRequest(held, 3, { channel: 'other' }));
    const keys = async (more: object) => (await store.listEffects({ limit: 10, ...more })).map(({ key }) => key);
    const [one, two, three] = [1, 2, 3].map((name) => effectKey(held.callId, name));
    expect(await keys({})).toEqual([three, two, one]);
    expect(await keys({ channel: CHANNEL, limit: 1 })).toEqual([two]);
    expect(await keys({ platform: 'mail' })).toEqual([]);
    expect(await keys({ state: 'delivered' })).toEqual([]);
  });

  describeRedirects(scene);
}

function describeRedirects(scene: Scene): void {
  const redirectOf = (session: Awaited<ReturnType<typeof openSession>>, callId: string, more: object = {}) => ({
    callId: callId as never,
    session: { id: session.id, tokenDigest: session.tokenDigest },
    platform: PLATFORM,
    channel: CHANNEL,
    origin: ORIGIN,
    afterMs: 0,
    deliverWithinMs: HOUR_MS,
    ...more,
  });

  it('the outcome of a redirected call is published once, when the call has settled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    const send = () => store.sendRedirects({ lane: session.lane, limit: 10 });
    expect(await store.redirectCall(redirectOf(session, held.callId))).toBe('redirected');
    await storeTimePasses(store, 1);
    expect(await send()).toBe(0);
    await store.settleCall(settleRequest(held));
    await storeTimePasses(store, 500);
    expect(await send()).toBe(1);
    expect(await send()).toBe(0);
    const { effects } = await store.claimEffects(claimEffectsRequest(session.lane));
    expect(effects).toMatchObject([
      { key: effectKey(held.callId, RESULT_NAME), kind: 'result', channel: CHANNEL, origin: ORIGIN },
    ]);
    expect(await store.redirectCall(redirectOf(session, held.callId))).toBe('sent');
  });

  it('a redirect that was dropped, or is for later, sends nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [dropped, later] = [await holdOne(store, session), await holdOne(store, session)];
    await store.redirectCall(redirectOf(session, dropped.callId));
    await store.redirectCall(redirectOf(session, later.callId, { afterMs: HOUR_MS }));
    expect(await store.dropRedirect(dropped.callId)).toBe('dropped');
    expect(await store.dropRedirect(dropped.callId)).toBe('none');
    for (const held of [dropped, later]) await store.settleCall(settleRequest(held));
    await storeTimePasses(store, 1);
    expect(await store.sendRedirects({ lane: session.lane, limit: 10 })).toBe(0);
  });

  it('redirect refuses a call of another subject, a wrong token, and an unknown call', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const stranger = await openSession(store, { lane: session.lane });
    const { callId } = await holdOne(store, session);
    expect(await store.redirectCall(redirectOf(stranger, callId))).toBe('unknown');
    const wrong = redirectOf(session, callId, { session: { id: session.id, tokenDigest: randomId() } });
    expect(await store.redirectCall(wrong)).toBe('unknown');
    expect(await store.redirectCall(redirectOf(session, `${callId}~2`))).toBe('unknown');
    expect(await store.redirectCall(redirectOf(session, callId))).toBe('redirected');
  });

  it('own calls are those of the subject that are not settled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const stranger = await openSession(store, { lane: session.lane });
    const done = await holdOne(store, session);
    await store.settleCall(settleRequest(done));
    const held = await holdOne(store, session);
    const queued = await acceptOne(store, session);
    await acceptOne(store, stranger);
    const scope = session.id.split('.')[1]!;
    const list = (limit: number) => store.listOwnCalls({ lane: session.lane, scope, limit });
    expect((await list(10)).map(({ callId }) => callId).sort()).toEqual([held.callId, queued].sort());
    expect(await list(1)).toHaveLength(1);
  });
}
