import { expect, it } from 'vitest';
import { toolId, type CallId } from '../../../src/domain/identity/ids.ts';
import {
  acceptMany,
  acceptOne,
  allow,
  askAbout,
  callIds,
  cancelRequest,
  claimMany,
  claimOne,
  openSession,
  ownedBy,
  reapRequest,
  ROOMY,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { reclaimOne, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

const SERIAL = { serial: true } as const;

export function describeSerial(scene: Scene): void {
  it('serial calls of a subject come one at a time, in accept order', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 4, SERIAL);
    for (const expected of accepted) {
      const deliveries = await claimMany(store, { lane: session.lane });
      expect(callIds(deliveries)).toEqual([expected]);
      expect(await claimMany(store, { lane: session.lane })).toEqual([]);
      await store.settleCall(settleRequest(deliveries[0]!));
    }
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('serial calls hold up neither another subject nor another tool nor calls that are not serial', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await openSession(store, { lane: session.lane });
    const [first] = await acceptMany(store, session, 2, SERIAL);
    const foreign = await acceptOne(store, other, SERIAL);
    const otherTool = await acceptOne(store, session, { ...SERIAL, tool: toolId('files', 'move') });
    const free = await acceptOne(store, session, { tool: toolId('files', 'read') });
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([first, foreign, otherTool, free]);
  });

  it('two sessions of one subject share the serial order', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const sibling = await openSession(store, session.identity);
    const first = await acceptOne(store, session, SERIAL);
    const second = await acceptOne(store, sibling, SERIAL);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(first);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    await store.settleCall(settleRequest(delivery));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('a lost serial call keeps its turn', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second] = await acceptMany(store, session, 2, SERIAL);
    const lost = await claimOne(store, { lane: session.lane });
    await store.startCall(startRequest(lost, { effect: 'read' }));
    const taken = await reclaimOne(store, lost);
    expect(taken.callId).toBe(first);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await store.settleCall(settleRequest(lost))).toBe('fenced');
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    await store.settleCall(settleRequest(taken));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('an abandoned serial call keeps its turn', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second] = await acceptMany(store, session, 2, SERIAL);
    await store.abandonCall({ ...ownedBy(await claimOne(store, { lane: session.lane })), handedBack: false });
    const again = await claimMany(store, { lane: session.lane });
    expect(callIds(again)).toEqual([first]);
    await store.settleCall(settleRequest(again[0]!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('a parked serial call keeps its turn', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second] = await acceptMany(store, session, 2, SERIAL);
    const asked = await askAbout(store, await claimOne(store, { lane: session.lane }));
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    await allow(store, asked);
    const resumed = await claimMany(store, { lane: session.lane });
    expect(callIds(resumed)).toEqual([first]);
    await store.settleCall(settleRequest(resumed[0]!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('cancel passes the turn on, from the front and out of the middle', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second, third] = await acceptMany(store, session, 3, SERIAL);
    await store.cancelCall(cancelRequest(second!));
    await store.cancelCall(cancelRequest(first!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([third]);
  });

  it('expiry passes the turn on', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session, { ...SERIAL, deadlineMs: 10 });
    const next = await acceptOne(store, session, SERIAL);
    await storeTimePasses(store, 10);
    await store.reapCalls(reapRequest(session.lane));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([next]);
  });

  it('serial order holds beside a full window of the same subject', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1 };
    const plain = await acceptMany(store, session, 2, { admission, tool: toolId('files', 'read') });
    const serial = await acceptMany(store, session, 4, { ...SERIAL, admission });
    const seen: CallId[] = [];
    for (;;) {
      const deliveries = await claimMany(store, { lane: session.lane });
      if (deliveries.length === 0) break;
      expect(callIds(deliveries).filter((callId) => serial.includes(callId)).length).toBeLessThanOrEqual(1);
      seen.push(...callIds(deliveries));
      for (const delivery of deliveries) await store.settleCall(settleRequest(delivery));
    }
    expect(seen.filter((callId) => serial.includes(callId))).toEqual(serial);
    expect(seen.filter((callId) => plain.includes(callId))).toEqual(plain);
  });
}
