import { expect, it } from 'vitest';
import { HISTORY_LENGTH, MAX_STALLS, type AttemptEnding } from '../../../src/domain/call/attempt.ts';
import { toolId } from '../../../src/domain/identity/ids.ts';
import type { SettledAttempt } from '../../../src/domain/ports/call-requests.ts';
import { codeOf, openHistory, shortSignature, toolTag } from '../../../src/domain/call/history.ts';
import { newRunId } from '../../../src/domain/identity/new-id.ts';
import { args, attemptOne, historyOf, RESULT, settled } from '../attempt-fixtures.ts';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  cancelRequest,
  claimMany,
  claimOne,
  holdOne,
  openSession,
  ownedBy,
  ROOMY,
  TOOL,
  type TestSession,
} from '../fixtures.ts';
import { reclaimOne } from '../observe.ts';
import type { Scene } from '../scene.ts';

/** The fields that differ between attempts of the same tool. */
const SOME_ATTEMPT = { raw: expect.any(String) as string, at: expect.any(Number) as number };

export function describeAttempts(scene: Scene): void {
  it('attempts of a run are counted, those of a tool beside them', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = toolId('files', 'read');
    const deliveries = [
      await holdOne(store, session),
      await holdOne(store, session, { tool: other }),
      await holdOne(store, session),
    ];
    expect(deliveries.map(({ runState }) => [runState.sequence, runState.toolSequence])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect(deliveries[0]!.runState).toMatchObject({ cost: 0, loopEnds: [] });
    expect(deliveries[0]!.runState.startedAt).toBeLessThanOrEqual(deliveries[0]!.acceptedAt);
    expect(deliveries[0]!.runState.startedAt).toBeGreaterThan(deliveries[0]!.acceptedAt - 60_000);
  });

  it('a repeated key is the same attempt', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptOne(store, session, 'ok', { key: 'k' });
    await store.acceptCall(acceptRequest(session, { key: 'k' }));
    expect((await holdOne(store, session)).runState.sequence).toBe(2);
  });

  it('history travels with the third attempt of the same, from the second on, in order, with what came out', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await attemptOne(store, session);
    const second = await holdOne(store, session, args(2));
    await store.settleCall(settled(second, 'failed', { effective: 'effectiv' }));
    const third = await attemptOne(store, session);
    expect([first, second].map(historyOf)).toEqual([undefined, undefined]);

    const fourth = await holdOne(store, session);
    const raw = shortSignature(first.bodyDigest);
    const tool = toolTag(TOOL);
    expect(historyOf(fourth)?.slice(-2)).toEqual([
      {
        sequence: 2,
        tool,
        raw: shortSignature(second.bodyDigest),
        effective: 'effectiv',
        at: second.acceptedAt,
        ending: 'failed',
        result: RESULT,
      },
      { sequence: 3, tool, raw, at: third.acceptedAt, ending: 'ok', result: RESULT },
    ]);
  });

  it('history shows attempts that are still open, also of the same moment', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await Promise.all(Array.from({ length: 5 }, () => acceptOne(store, session)));
    const deliveries = [...(await claimMany(store, { lane: session.lane }))].sort(
      (one, other) => one.runState.sequence - other.runState.sequence,
    );
    expect(deliveries.map(({ runState }) => runState.sequence)).toEqual([1, 2, 3, 4, 5]);
    const histories = deliveries.map(historyOf);
    expect(histories.slice(0, 2)).toEqual([undefined, undefined]);
    for (const [index, history] of histories.slice(2).entries()) {
      expect(history?.length).toBeGreaterThan(index);
      expect(new Set(history?.map(({ ending }) => ending))).toEqual(new Set(['open']));
    }
  });

  it.each<AttemptEnding>(['failed', 'refused', 'blocked'])(
    'history travels with the four attempts after one that %s, and no further',
    async (ending) => {
      const store = await scene.open();
      const session = await openSession(store);
      await attemptOne(store, session, ending as SettledAttempt['ending'], args(0));
      const later = [];
      for (const number of [1, 2, 3, 4, 5]) later.push(await attemptOne(store, session, 'ok', args(number)));
      expect(later.map(historyOf).map((history) => history?.map((attempt) => attempt.ending))).toEqual([
        [ending],
        [ending, 'ok'],
        [ending, 'ok', 'ok'],
        [ending, 'ok', 'ok', 'ok'],
        undefined,
      ]);
    },
  );

  it('history travels after an attempt that ran what another one had sent', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await attemptOne(store, session, 'ok', args(0));
    const second = await holdOne(store, session, args(1));
    await store.settleCall(settled(second, 'ok', { effective: shortSignature(first.bodyDigest) }));
    const third = await attemptOne(store, session, 'ok', args(2));
    expect(historyOf(third)?.at(-1)).toMatchObject({ effective: shortSignature(first.bodyDigest) });
  });

  it('history travels with the eight attempts after one that ran the same without volatile values, or wrote to the same target', async () => {
    const store = await scene.open();
    for (const more of [{ effective: 'effectiv' }, { target: 'target__' }]) {
      const session = await openSession(store);
      const end = async (number: number, attempt: Partial<SettledAttempt>) => {
        const delivery = await holdOne(store, session, args(number));
        await store.settleCall(settled(delivery, 'ok', attempt));
        return delivery;
      };
      await end(1, more);
      expect(historyOf(await end(2, more))).toBeUndefined();
      const later = [];
      for (let number = 3; number <= 11; number += 1) later.push(historyOf(await end(number, {})));
      expect(later.map((history) => history !== undefined)).toEqual([...Array(8).fill(true), false]);
      expect(later[0]!.at(-1)).toMatchObject({ sequence: 2, ...more });
    }
  });

  it('history has the target and the tally of an attempt, beside all others', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await store.settleCall(settled(await holdOne(store, session, args(0)), 'failed'));
    const ended: Partial<SettledAttempt>[] = [
      { effective: 'effectiv', target: 'target__', tally: 3 },
      { tally: 12_345_678 },
      { target: 'target_2' },
      {},
    ];
    for (const [index, more] of ended.entries())
      await store.settleCall(settled(await holdOne(store, session, args(index + 1)), 'failed', more));
    const next = await holdOne(store, session, args(99));
    expect(historyOf(next)?.slice(1)).toEqual(
      ended.map((more, index) => ({ ...historyOf(next)![0]!, sequence: index + 2, ...SOME_ATTEMPT, ...more })),
    );
    const opened = openHistory(next.history!, next.runState.sequence);
    expect([1, 2, 3, 4].map((index) => opened.tally(index))).toEqual([3, 12_345_678, 0, 0]);
    expect([1, 2, 3, 4].map((index) => opened.target(index))).toEqual([
      codeOf('target__'),
      NaN,
      codeOf('target_2'),
      NaN,
    ]);
  });

  it('calls without a new result are counted over the runs of one session, until a loop ends a run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const from = await store.now();
    const stalls = async (run: TestSession) => (await holdOne(store, run, args(0))).runState.stalls;
    const stall = async (run: TestSession, signature: string, more: Partial<SettledAttempt> = {}) =>
      store.settleCall(settled(await holdOne(store, run, args(1)), 'ok', { stall: signature, ...more }));
    const anotherRun = async (): Promise<TestSession> => {
      const run = newRunId();
      await store.openRun({ session: session.id, run });
      return { ...session, run };
    };
    expect(await stalls(session)).toBeUndefined();
    await stall(session, 'one_____');
    await stall(session, 'two_____', { cost: 5 });
    const next = await anotherRun();
    await stall(next, 'one_____');
    expect(await stalls(next)).toEqual([
      { signature: 'two_____', count: 1, at: expect.any(Number) },
      { signature: 'one_____', count: 2, at: expect.any(Number) },
    ]);
    for (const { at } of (await stalls(next))!) expect(at).toBeGreaterThanOrEqual(from);
    for (let number = 0; number < MAX_STALLS; number += 1) await stall(next, `many___${number}`);
    expect((await stalls(next))?.map(({ signature }) => signature)).toEqual(
      Array.from({ length: MAX_STALLS }, (_, number) => `many___${number}`),
    );
    expect(await stalls(await openSession(store))).toBeUndefined();
    await stall(next, 'last____', { ending: 'blocked', endsRun: { restMs: 1 } });
    expect(await stalls(await anotherRun())).toBeUndefined();
  });

  it('history keeps the latest attempts only, and an old one that ends late touches no newer one', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const late = await holdOne(store, session, args(0));
    for (let number = 1; number <= HISTORY_LENGTH; number += 1) {
      await attemptOne(store, session, 'failed', args(number));
    }
    await store.settleCall(settled(late, 'refused', { result: 'late____' }));
    const next = await holdOne(store, session, args(9999));
    const history = historyOf(next);
    expect(history).toHaveLength(HISTORY_LENGTH);
    expect(history?.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: HISTORY_LENGTH }, (_, index) => index + 2),
    );
    expect(new Set(history?.map(({ ending }) => ending))).toEqual(new Set(['failed']));
  });

  it('a call that no worker ran is remembered as refused', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const number of [1, 2, 3]) {
      const callId = await acceptOne(store, session, args(number));
      await store.cancelCall(cancelRequest(callId));
    }
    const history = historyOf(await holdOne(store, session, args(4)));
    expect(history?.map(({ ending, result }) => [ending, result])).toEqual([
      ['refused', undefined],
      ['refused', undefined],
      ['refused', undefined],
    ]);
  });

  it('history reaches a call that waited behind its subject’s window, was given back, or was taken over', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptMany(store, session, 4, { admission: { ...ROOMY, subjectWindow: 1 } });
    const lengths = [];
    for (const sequence of [1, 2, 3, 4]) {
      const delivery = await claimOne(store, { lane: session.lane });
      expect(delivery.runState).toMatchObject({ sequence, toolSequence: sequence });
      lengths.push(historyOf(delivery)?.length ?? 0);
      if (sequence < 4) await store.settleCall(settled(delivery, 'ok'));
    }
    expect(lengths[2]).toBeGreaterThanOrEqual(1);
    expect(lengths[3]).toBeGreaterThanOrEqual(2);
    const again = await reclaimOne(store, await holdOne(store, session));
    expect(historyOf(again)?.length).toBeGreaterThanOrEqual(3);
    await store.abandonCall({ ...ownedBy(again), handedBack: false });
    const back = await claimOne(store, { lane: session.lane });
    expect(back.runState.sequence).toBe(5);
    expect(historyOf(back)?.length).toBeGreaterThanOrEqual(3);
  });

  it('runs have histories of their own, and sessions too', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await openSession(store, { tenant: session.identity.tenant, subject: session.identity.subject });
    const run = newRunId();
    await store.openRun({ session: session.id, run });
    for (let count = 0; count < 3; count += 1) await attemptOne(store, session);
    for (const stranger of [{ ...session, run }, other]) {
      const delivery = await holdOne(store, stranger);
      expect(delivery.runState.sequence).toBe(1);
      expect(delivery.history).toBeUndefined();
    }
  });

  it('opening a run again changes nothing about it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptOne(store, session);
    expect(await store.openRun({ session: session.id, run: session.run })).toBe('opened');
    expect((await holdOne(store, session)).runState.sequence).toBe(2);
  });

  it('cost is added up over a run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const cost of [1_500_000, 250]) {
      const delivery = await holdOne(store, session);
      await store.settleCall(settled(delivery, 'ok', { cost }));
    }
    expect((await holdOne(store, session)).runState).toMatchObject({ cost: 1_500_250, sequence: 3 });
  });

  it('a settle repeated after a lost answer counts its attempt once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const request = settled(delivery, 'ok', { cost: 5 });
    await store.settleCall(request);
    expect(await store.settleCall(request)).toBe('settled');
    expect((await holdOne(store, session)).runState.cost).toBe(5);
  });

  it('a call that ends after its run has ended leaves no attempt behind', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.endRun({ session: session.id, run: session.run });
    expect(await store.settleCall(settled(delivery, 'ok', { cost: 5 }))).toBe('settled');
    await store.openRun({ session: session.id, run: session.run });
    expect((await holdOne(store, session)).runState).toMatchObject({ sequence: 1, cost: 0 });
  });
}
