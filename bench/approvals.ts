// Measures how many calls per second can be parked for a person and resumed after the decision, compared with calls that need no approval.
import { parseArgs } from 'node:util';
import { toCount, toNames } from './harness/options.ts';
import { ratios, row, type BenchReport } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { median, shown } from './harness/statistics.ts';
import { sendCalls, untilOk, untilParked } from './plane/calls.ts';
import { ASK_FIRST, openPlane, STORE_KINDS, type BenchPlane, type StoreKind } from './plane/open-plane.ts';

const USAGE = `npm run bench -- approvals [options]
  --calls 500           that are sent at once (default 500)
  --repetitions 5       of the whole round (default 5)
  --store redis         redis, embedded or both (default redis,embedded)
  --json                the report as JSON`;

const APPROVER = { kind: 'operator' as const, name: 'bench' };

interface Turn {
  readonly store: StoreKind;
  readonly plainMs: number;
  readonly parkMs: number;
  readonly resumeMs: number;
}

async function measureTurn(plane: BenchPlane, store: StoreKind, count: number): Promise<Turn> {
  const plainAt = performance.now();
  await untilOk(sendCalls(plane, 'bench.read', count));
  const parkedBefore = await plane.parked();
  const askedAt = performance.now();
  const calls = sendCalls(plane, 'bench.unsafe', count);
  await untilParked(plane, parkedBefore, calls);
  const parkedAt = performance.now();
  const approvals = await plane.client.approvals.list(APPROVER, { state: 'pending', limit: count });
  if (approvals.length !== count) throw new Error(`${approvals.length} of ${count} questions are there`);
  const decidedAt = performance.now();
  const decided = approvals.map(({ question: { id, binding } }) =>
    plane.client.approvals.decide(APPROVER, id, { decision: 'allow-once', binding }),
  );
  await Promise.all(decided);
  await untilOk(calls);
  const endedAt = performance.now();
  return { store, plainMs: askedAt - plainAt, parkMs: parkedAt - askedAt, resumeMs: endedAt - decidedAt };
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: 'string', default: '500' },
      repetitions: { type: 'string', default: '5' },
      store: { type: 'string', default: STORE_KINDS.join(',') },
    },
  });
  const count = toCount('--calls', values.calls);
  const repetitions = toCount('--repetitions', values.repetitions);
  const stores = toNames('--store', values.store, STORE_KINDS);
  const planes = new Map<StoreKind, BenchPlane>();
  const turns: Turn[] = [];
  try {
    for (const store of stores) planes.set(store, await openPlane(store, { gate: ASK_FIRST }));
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      for (const [store, plane] of planes) {
        const turn = await measureTurn(plane, store, count);
        if (repetition > 0) turns.push(turn);
        const [parked, resumed] = [turn.parkMs, turn.resumeMs].map((ms) => shown((count / ms) * 1000));
        progress(`round ${repetition}/${repetitions}, ${store}: ${parked} parked/s, ${resumed} resumed/s`);
      }
    }
  } finally {
    for (const plane of planes.values()) await plane.close();
  }
  return reportOf(['npm run bench -- approvals', ...args].join(' '), turns, stores, count);
}

function reportOf(command: string, turns: readonly Turn[], stores: readonly StoreKind[], count: number): BenchReport {
  const summaries = stores.map((store) => {
    const own = turns.filter((turn) => turn.store === store);
    const rate = (pick: (turn: Turn) => number): number => median(own.map((turn) => (count / pick(turn)) * 1000));
    const ratio = median(own.map(({ plainMs, parkMs, resumeMs }) => (parkMs + resumeMs) / plainMs));
    const perSecond = [rate(({ parkMs }) => parkMs), rate(({ resumeMs }) => resumeMs), rate(({ plainMs }) => plainMs)];
    return { store, ratio, perSecond };
  });
  return {
    bench: 'approvals',
    command,
    notes: [`${count} calls at once; the listing between parking and deciding is not counted`],
    tables: [
      {
        id: 'approvals',
        title: 'Calls that wait for a person',
        of: 'store',
        columns: [
          { title: 'time / plain call', digits: 2 },
          { title: 'parked/s', digits: 0 },
          { title: 'decided and resumed/s', digits: 0 },
          { title: 'plain calls/s', digits: 0 },
        ],
        rows: summaries.map(({ store, ratio, perSecond }) => row(store, [ratio, ...perSecond])),
      },
    ],
    ratios: ratios(
      summaries.map(({ store, ratio }) => ({ id: `approvals/${store}/time-to-plain`, value: ratio, better: 'lower' })),
    ),
    details: turns,
  };
}

await runBench({ usage: USAGE, run });
