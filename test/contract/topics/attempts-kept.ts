import { expect, it } from 'vitest';
import { HISTORY_LENGTH } from '../../../src/domain/call/attempt.ts';
import { toolId } from '../../../src/domain/identity/ids.ts';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import { newRunId } from '../../../src/domain/identity/new-id.ts';
import { args, attemptAll, attemptOne, historyOf, holdAll, settled } from '../attempt-fixtures.ts';
import { claimMany, claimOne, HOUR_MS, holdOne, openSession, ownedBy, type CallOverrides } from '../fixtures.ts';
import { storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

/** Every store looks for repetitions among this many latest attempts. */
const LOOKED_THROUGH = 64;
const DIGEST_LENGTH = 43;
const ATTEMPT_BYTES = 41;

const different = (count: number, from = 1000): CallOverrides[] =>
  Array.from({ length: count }, (_, index) => args(from + index));

/** A call whose signature begins with this text. */
const signed = (beginning: string): CallOverrides => ({ bodyDigest: beginning.padEnd(DIGEST_LENGTH, '0') });

export function describeKeptAttempts(scene: Scene): void {
  it(`a repetition is seen among the latest ${LOOKED_THROUGH} attempts`, async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptOne(store, session);
    await attemptOne(store, session);
    await attemptAll(store, session, different(LOOKED_THROUGH - 2));
    expect(historyOf(await holdOne(store, session))).toBeDefined();
  });

  it('a repetition is seen across what came before and what comes at the same moment', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptOne(store, session);
    const [second, third] = await holdAll(store, session, [{}, {}]);
    expect(historyOf(second!)).toBeUndefined();
    expect(historyOf(third!)).toBeDefined();
  });

  it('attempts that only look the same are no repetition', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const beginning of ['xxab', 'cdyy', 'zzab', 'cdww']) await attemptOne(store, session, 'ok', signed(beginning));
    expect(historyOf(await holdOne(store, session, signed('abcd')))).toBeUndefined();
  });

  it('a repetition is seen behind what only looks the same', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const beginning of ['xxab', 'abab', 'yyab', 'abab']) await attemptOne(store, session, 'ok', signed(beginning));
    expect(historyOf(await holdOne(store, session, signed('abab')))).toBeDefined();
  });

  it(`a long run remembers its latest ${HISTORY_LENGTH} attempts, and no more`, async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const count = 2 * HISTORY_LENGTH + 60;
    for (let from = 0; from < count; from += HISTORY_LENGTH / 4) {
      await attemptAll(store, session, different(Math.min(HISTORY_LENGTH / 4, count - from), from), 'failed');
    }
    const next = await holdOne(store, session, args(9999));
    expect(next.history?.byteLength).toBe(HISTORY_LENGTH * ATTEMPT_BYTES);
    expect(historyOf(next)?.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: HISTORY_LENGTH }, (_, index) => count - HISTORY_LENGTH + 1 + index),
    );
  });

  it('a run is watched for as long as something in it repeats itself', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptAll(store, session, [{}, {}]);
    const between = await attemptAll(store, session, different(20));
    const again = await holdOne(store, session);
    expect(historyOf(again)?.map(({ sequence }) => sequence)).toEqual(
      expect.arrayContaining(between.map(({ runState }) => runState.sequence)),
    );
  });

  it('a failure during concurrent calls is remembered with all later attempts', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, ...others] = await holdAll(store, session, different(3));
    await store.settleCall(settled(first!, 'failed'));
    await attemptOne(store, session, 'ok', args(1));
    for (const other of others) await store.settleCall(settled(other, 'ok'));
    const next = await holdOne(store, session, args(2));
    const endings = new Map(historyOf(next)?.map(({ sequence, ending }) => [sequence, ending]));
    expect([endings.get(1), endings.get(4)]).toEqual(['failed', 'ok']);
  });

  it('an attempt that went wrong long ago does not affect later attempts', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const late = await holdOne(store, session, args(0));
    await attemptAll(store, session, different(10));
    await store.settleCall(settled(late, 'failed'));
    expect(historyOf(await holdOne(store, session, args(1)))).toBeUndefined();
  });

  it('an attempt that ran what another one sends later counts as the same', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const same = signed('wanted');
    for (const number of [1, 2]) {
      const delivery = await holdOne(store, session, args(number));
      await store.settleCall(settled(delivery, 'ok', { effective: 'wanted00' }));
      // More attempts than the number that a failure makes the store look back at.
      await attemptAll(store, session, different(8, number * 1000));
    }
    expect(historyOf(await holdOne(store, session, same))).toBeDefined();
  });

  it('attempts of one moment are counted each by its tool, with any other differences', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [one, other] = [toolId('files', 'read'), toolId('files', 'list')];
    const batch: CallOverrides[] = [
      { tool: one },
      { tool: one, deadlineMs: HOUR_MS / 2 },
      { tool: other },
      { tool: one },
      { tool: other, deadlineMs: HOUR_MS / 2 },
    ].map((call, index) => ({ ...call, ...args(index) }));
    const counted = { [one]: 0, [other]: 0 };
    for (let round = 0; round < 3; round += 1) {
      for (const { tool, runState } of await attemptAll(store, session, batch)) {
        expect(runState.toolSequence).toBe((counted[tool]! += 1));
      }
    }
    expect(counted).toEqual({ [one]: 9, [other]: 6 });
  });

  it('a tool’s count is found by its own name, not by what its neighbour’s count looks like', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    // The neighbour's tag ends with three letters that, followed by its count (48 is the character "0"), are the tag of the other tool.
    const [neighbour, tool] = [toolId('files', 't9'), toolId('files', 't4711')];
    await attemptAll(
      store,
      session,
      different(48).map((call) => ({ ...call, tool: neighbour })),
    );
    const counts = [];
    for (const each of [tool, tool, neighbour]) {
      counts.push(
        (await attemptOne(store, session, 'ok', { tool: each, ...args(counts.length) })).runState.toolSequence,
      );
    }
    expect(counts).toEqual([1, 2, 49]);
  });

  it('cost of attempts that end at the same moment is added up', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const deliveries = await holdAll(store, session, different(3));
    await Promise.all(
      deliveries.map((delivery, index) => store.settleCall(settled(delivery, 'ok', { cost: 10 ** index }))),
    );
    expect((await holdOne(store, session)).runState.cost).toBe(111);
  });

  it('a call that is queued again gets the current state of its run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiting = await holdOne(store, session, args(0));
    const other = await holdOne(store, session, args(1));
    await store.settleCall(settled(other, 'failed', { cost: 7 }));
    await store.abandonCall({ ...ownedBy(waiting), handedBack: false });
    const again = await claimOne(store, { lane: session.lane });
    expect(again.runState).toEqual({ ...waiting.runState, cost: 7 });
    expect(again).toMatchObject({ watched: true });
  });

  it('a call that is queued again has the history that it had, and what went wrong before it since', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, args(0));
    const second = await holdOne(store, session, args(1));
    expect(second.history).toBeUndefined();
    await store.settleCall(settled(first, 'failed'));
    await store.abandonCall({ ...ownedBy(second), handedBack: false });
    const again = await claimOne(store, { lane: session.lane });
    expect(historyOf(again)).toMatchObject([{ sequence: 1, ending: 'failed' }]);
    await store.settleCall(settled(again, 'ok'));

    const other = await openSession(store);
    await attemptAll(store, other, [{}, {}]);
    const third = await holdOne(store, other);
    await store.abandonCall({ ...ownedBy(third), handedBack: false });
    expect(historyOf(await claimOne(store, { lane: other.lane }))).toEqual(historyOf(third));
  });

  it('a call that is queued again has no history for being counted itself', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await attemptOne(store, session);
    const second = await holdOne(store, session);
    await store.abandonCall({ ...ownedBy(second), handedBack: false });
    const again = await claimOne(store, { lane: session.lane });
    expect(historyOf(again)).toBeUndefined();
  });

  it('a run opened again under its old id starts anew', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const number of [1, 2, 3]) await attemptOne(store, session, 'failed', args(number));
    await store.endRun({ session: session.id, run: session.run });
    await storeTimePasses(store, 2);
    await store.openRun({ session: session.id, run: session.run });
    const first = await attemptOne(store, session, 'failed', args(4));
    expect(first.history).toBeUndefined();
    const second = await holdOne(store, session, args(5));
    expect(historyOf(second)?.map(({ at }) => at)).toEqual([first.acceptedAt]);
  });

  it('two attempts that end one run end it once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const deliveries = await holdAll(store, session, different(2));
    for (const delivery of deliveries)
      await store.settleCall(settled(delivery, 'blocked', { endsRun: { restMs: 1000 } }));
    const run = newRunId();
    await store.openRun({ session: session.id, run });
    expect((await holdOne(store, { ...session, run })).runState.loopEnds).toHaveLength(1);
  });

  it('an attempt that a history shows was delivered as watched, unless it went wrong or ran something else', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const run = watchRun();
    const large = { envelope: new Uint8Array(70_000) };
    run.see(await attemptAll(store, session, [args(0), args(1), args(2)]));
    run.see(await attemptAll(store, session, [args(3), args(3), args(3), args(4)]));
    run.see(await attemptAll(store, session, [args(5), { ...args(3), ...large }, { ...args(6), ...large }]));
    run.see(await attemptAll(store, session, [args(7)], 'failed'));
    run.see(await attemptAll(store, session, different(3)));
    const held = await holdAll(store, session, different(5, 2000));
    run.see(held);
    for (const delivery of held.slice(0, 2)) await store.abandonCall({ ...ownedBy(delivery), handedBack: false });
    const again = await claimMany(store, { lane: session.lane });
    run.see(again);
    for (const each of [...again, ...held.slice(2)]) await store.settleCall(settled(each, 'ok'));
    run.see([await holdOne(store, session, args(3))]);
    expect(run.shown).toBeGreaterThan(20);
    expect(run.unwatched).toEqual([]);
  });
}

/** Compares the histories that deliveries show with the `watched` flags that the workers of those calls got. */
function watchRun() {
  const watched = new Map<number, boolean>();
  const run = {
    /** The number of attempts in all histories so far whose result counts. */
    shown: 0,
    /** The sequence numbers of those attempts whose worker was not asked to watch the result. */
    unwatched: [] as number[],
    see(deliveries: readonly Delivery[]): void {
      for (const delivery of deliveries) watched.set(delivery.runState.sequence, delivery.watched);
      for (const { sequence, ending, effective } of deliveries.flatMap((delivery) => historyOf(delivery) ?? [])) {
        if ((ending !== 'ok' && ending !== 'open') || effective !== undefined) continue;
        run.shown += 1;
        if (watched.get(sequence) === false) run.unwatched.push(sequence);
      }
    },
  };
  return run;
}
