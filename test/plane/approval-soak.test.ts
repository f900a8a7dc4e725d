import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Approval, CallAnswer, DecideAnswer } from '../../src/exports/client.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { judgeSoak } from './support/approval-soak/judge-soak.ts';
import {
  lostDecisions,
  planCalls,
  race,
  sendCalls,
  toDecide,
  untilAllEnded,
  untilParked,
  type Race,
  type SoakCall,
} from './support/approval-soak/soak-calls.ts';
import { APPROVERS, CONCURRENCY, stageSoak, WORKERS, type SoakPlane } from './support/approval-soak/soak-plane.ts';
import { BACKENDS } from './support/stage-plane.ts';

/** Set by `npm run soak:approvals`: the number of calls. The test then runs in full, with more crashes. */
const ASKED_FOR = process.env['SALLYPORT_SOAK_CALLS'];
const IS_FULL = ASKED_FOR !== undefined;
const CALLS = Number(ASKED_FOR ?? 40);
const CHUNKS = 12;
/** Decisions are made in chunks. For the index of a chunk: what is killed as soon as the chunk's first decision is answered. */
const CRASHES = new Map<number, Parameters<SoakPlane['crash']>[0]>([
  [4, 'store'],
  // During the last chunk, calls that are already decided wait for workers or run.
  [CHUNKS - 1, 'everything'],
  ...(IS_FULL
    ? ([
        [2, 'everything'],
        [6, 'workers'],
        [8, 'approvers'],
      ] as const)
    : []),
]);
const CRASHES_OF_WORKERS = [...CRASHES.values()].filter((what) => what !== 'approvers').length;
const MIB = 1024 * 1024;
/** How much the memory of all workers together may grow: a few times what it grows without a leak. */
const MAX_GROWN_MB = 2;
const TIMEOUT_MS = 600_000 + CALLS * 2000;

/** Cuts the decisions into chunks, because a crash affects only decisions that are under way. */
function cut<Item>(items: readonly Item[], pieces: number): Item[][] {
  const start = (index: number): number => Math.floor((index * items.length) / pieces);
  return Array.from({ length: pieces }, (_, index) => items.slice(start(index), start(index + 1)));
}

async function decideAll(
  plane: SoakPlane,
  calls: readonly SoakCall[],
  approvals: Map<string, Approval>,
  crashes = CRASHES,
) {
  const races: Race[] = [];
  for (const [index, chunk] of cut(toDecide(calls), CHUNKS).entries()) {
    const racing = chunk.map((call) => race(plane, call, approvals.get(call.callId)!));
    const crash = crashes.get(index);
    if (crash !== undefined) {
      await Promise.race(racing);
      await plane.crash(crash);
    }
    races.push(...(await Promise.all(racing)));
  }
  return races;
}

/** Expects that parked calls take no slot: no call is queued or with a worker, and calls of another subject are answered. */
async function expectFreeSlots(plane: SoakPlane): Promise<void> {
  await eventually(async () => (await plane.store.queueState()).every(({ queued, leased }) => queued + leased === 0), {
    what: 'no call in a queue or with a worker',
  });
  const session = await plane.client.openSession({ subject: 'other', agent: 'main' });
  const orders = Array.from({ length: 20 }, (_, number) => ({
    kind: 'call',
    session,
    tool: 'soak.echo',
    args: { number },
    waitMs: 60_000,
  }));
  const answers = await Promise.all(orders.map((order) => plane.caller.ask<CallAnswer>(order)));
  expect(answers).toMatchObject(orders.map(({ args }) => ({ outcome: { kind: 'ok', structured: args } })));
}

/** The memory of all workers together after a garbage collection, in MiB, including buffers outside of the heap. */
async function keptMb(plane: SoakPlane): Promise<number> {
  const kept = await Promise.all(plane.workers.map((worker) => worker.ask<number>({})));
  return kept.reduce((sum, bytes) => sum + bytes, 0) / MIB;
}

describe.each(BACKENDS)(`${CALLS} calls that people are asked about on %s`, (backend) => {
  let plane: SoakPlane;
  beforeAll(async () => {
    plane = await stageSoak(backend);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await plane.stop();
    failOnLeaks();
  });

  async function park(name: string): Promise<[SoakCall[], Map<string, Approval>]> {
    const calls = await planCalls(plane, name, CALLS);
    await sendCalls(plane, calls);
    return [calls, await untilParked(plane, calls)];
  }

  it(
    'cost the workers no slot and no memory, neither while they wait nor afterwards',
    async () => {
      const kept: number[] = [];
      for (const round of ['warm', 'measured']) {
        const [calls, approvals] = await park(round);
        if (round === 'measured') kept.push(await keptMb(plane));
        await expectFreeSlots(plane);
        await decideAll(plane, calls, approvals, new Map());
        await untilAllEnded(plane);
        kept.push(await keptMb(plane));
      }
      const [before, parked, after] = kept.map((each) => each.toFixed(1));
      console.log(
        `${backend}: ${WORKERS} workers keep ${before} MiB, with ${CALLS} parked ${parked}, after them ${after}`,
      );
      for (const each of kept) expect(each - kept[0]!).toBeLessThan(MAX_GROWN_MB);
    },
    TIMEOUT_MS,
  );

  it(
    'have one decision each through kill -9 of every process, and run once as approved or not at all',
    async () => {
      const calls = await planCalls(plane, 'soak', CALLS);
      const already = plane.ran().length;
      const sending = sendCalls(plane, calls.slice(0, CALLS / 2));
      await plane.crash('everything');
      await Promise.all([sending, sendCalls(plane, calls.slice(CALLS / 2))]);
      await untilParked(plane, calls);
      await plane.crash('everything');
      const approvals = await untilParked(plane, calls);
      await expectFreeSlots(plane);
      expect(plane.ran()).toHaveLength(already);

      const races = await decideAll(plane, calls, approvals);
      expect(await lostDecisions(plane, races)).toEqual([]);
      await untilAllEnded(plane);
      await expectNothingToDecide(calls);
      const { wrong, tally } = await judgeSoak(plane, calls, races);
      console.log(`${backend}: ${JSON.stringify(tally)}`);
      expect(wrong).toEqual([]);
      expect(tally.allowed + tally.denied + tally.expired).toBe(CALLS);
      expect(Math.min(tally.allowed, tally.denied, tally.expired)).toBeGreaterThan(0);
      expect(tally.indeterminate).toBeLessThanOrEqual(CRASHES_OF_WORKERS * WORKERS * CONCURRENCY);
    },
    TIMEOUT_MS,
  );

  /** Expects that no question is left to decide, and that a decision about an expired one is too late. */
  async function expectNothingToDecide(calls: readonly SoakCall[]): Promise<void> {
    expect(await plane.store.matchApprovals({ prefix: '', limit: 10 })).toEqual([]);
    const expired = await plane.store.listApprovals({ state: 'expired', limit: 10_000 });
    const expiring = calls.filter(({ args }) => args.fate === 'expire').map(({ callId }) => callId);
    const late = expired.filter(({ question }) => expiring.includes(question.callId));
    expect(late).toHaveLength(expiring.length);
    const answers = await Promise.all(
      late.flatMap(({ question }) =>
        APPROVERS.map((name) =>
          plane.approvers[name].ask<DecideAnswer>({
            kind: 'decide',
            approver: { kind: 'operator', name },
            approval: question.id,
            decision: { decision: 'allow-once', binding: question.binding },
          }),
        ),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set(['{"kind":"already-decided","state":"expired"}']),
    );
  }
});
