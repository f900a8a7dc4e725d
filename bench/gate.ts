// Measures what the gate costs a call: in process, and as the difference between two planes that differ in nothing else. The gate may cost
// 25 µs of CPU and no round trip to the store.
import { parseArgs } from 'node:util';
import { attemptOf, gate, type IdentifiedCall, type Store } from 'sallyport/testing';
import { measureCpu } from './gate/measure-cpu.ts';
import { CLOSED_DOWN, GATED } from './gate/policies.ts';
import { sampleCall, sampleOutcome } from './gate/sample-call.ts';
import { toCount, toNumber } from './harness/options.ts';
import { ratios, row, type BenchReport, type ReportTable } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { median, shown } from './harness/statistics.ts';
import { openPair, type Measurement } from './round-trip/pair.ts';

const ALLOWED_US = 25;
const WARM_UP = { concurrency: 128, seconds: 10, maxCalls: 20_000 };

const USAGE = `npm run bench -- gate [options]
  --rounds 41           of the parts in this process (default 41)
  --runs 5000           of each part in a round (default 5000)
  --in-process          only the parts, no planes
  --seconds 2           per turn of a plane (default 2)
  --repetitions 9       turns of each plane (default 9)
  --json                the report as JSON`;

/** A store that throws on any use, because a use would be a round trip. */
const noStore = new Proxy({} as Store, {
  get(_, name): never {
    throw new Error(`the gate asked the store for ${String(name)}`);
  },
});
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const noRunner = { run: (): never => noStore as never, close: async () => undefined };
const needs = {
  store: noStore,
  log: silent,
  runners: { inline: noRunner, process: noRunner, 'process-per-call': noRunner },
  shares: { liveBytes: 1, parkedBytes: 1, retainedBytes: 1, pendingApprovals: 1 },
};

function pass(call: IdentifiedCall): () => void {
  return () => {
    const verdict = gate(call, needs);
    // A promise would mean a wait, and any other verdict would mean that the call did not pass.
    if (verdict instanceof Promise || verdict.kind !== 'allowed') throw new Error('the call did not pass at once');
  };
}

function sign(): () => void {
  const outcome = sampleOutcome();
  const { admitted, tool } = sampleCall(GATED, false);
  const facts = { tool: tool.declaration };
  return () => {
    if (attemptOf(admitted, outcome, facts).result === undefined) throw new Error('the result has no signature');
  };
}

function measureInProcess(rounds: number, runs: number): Record<string, number> {
  const us = measureCpu(
    {
      closed: pass(sampleCall(CLOSED_DOWN, false)),
      empty: pass(sampleCall(GATED, false)),
      full: pass(sampleCall(GATED, true)),
      signature: sign(),
    },
    { rounds, runs },
  );
  return {
    'closed-down gate': us.closed,
    'three rules, no history': us.empty,
    'three rules, history of 128': us.full,
    'signature of a 200-byte result': us.signature,
    'a usual call: no history, signature': us.empty + us.signature,
    'a repeated call: history of 128, signature': us.full + us.signature,
  };
}

interface Turn {
  readonly gated: Measurement;
  readonly ungated: Measurement;
}

/** Measures both planes in each repetition, one after the other. The plane that goes first alternates. */
async function measurePlanes(seconds: number, repetitions: number): Promise<Turn[]> {
  const pairs = { gated: await openPair('gated'), ungated: await openPair('ungated') };
  const turns: Turn[] = [];
  try {
    for (const pair of Object.values(pairs)) await pair.measure(WARM_UP);
    const load = { concurrency: 128, seconds, maxCalls: 100_000 };
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      const order = repetition % 2 === 0 ? (['gated', 'ungated'] as const) : (['ungated', 'gated'] as const);
      const measured: Partial<Record<keyof Turn, Measurement>> = {};
      for (const name of order) measured[name] = await pairs[name].measure(load);
      const turn = measured as Turn;
      if (repetition > 0) turns.push(turn);
      progress(
        `round ${repetition}/${repetitions}: worker ${shown(turn.gated.workerUs, 1)} and ${shown(turn.ungated.workerUs, 1)} µs per call`,
      );
    }
  } finally {
    for (const pair of Object.values(pairs)) await pair.close();
  }
  return turns;
}

function partsTable(inProcess: Readonly<Record<string, number>>): ReportTable {
  return {
    id: 'gate-in-process',
    title: 'The gate in process',
    of: 'CPU per call',
    columns: [
      { title: `of ${ALLOWED_US} µs`, digits: 3 },
      { title: 'µs', digits: 2 },
    ],
    rows: Object.entries(inProcess).map(([name, us]) => row(name, [us / ALLOWED_US, us])),
  };
}

function planesTable(turns: readonly Turn[]): ReportTable {
  const middle = (pick: (turn: Turn) => number): number => median(turns.map(pick));
  return {
    id: 'gate-planes',
    title: 'A plane with and without the gate',
    of: 'CPU per call',
    columns: [
      { title: 'with / without', digits: 3 },
      { title: 'difference µs', digits: 1 },
      { title: 'with gate µs', digits: 1 },
      { title: 'without µs', digits: 1 },
    ],
    rows: (['workerUs', 'callerUs', 'redisUs'] as const).map((name) =>
      row(name.slice(0, -2), [
        middle(({ gated, ungated }) => gated[name] / ungated[name]),
        middle(({ gated, ungated }) => gated[name] - ungated[name]),
        middle(({ gated }) => gated[name]),
        middle(({ ungated }) => ungated[name]),
      ]),
    ),
  };
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '41' },
      runs: { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '2' },
      repetitions: { type: 'string', default: '9' },
      'in-process': { type: 'boolean', default: false },
    },
  });
  const [rounds, runs] = [toCount('--rounds', values.rounds), toCount('--runs', values.runs)];
  const [seconds, repetitions] = [toNumber('--seconds', values.seconds), toCount('--repetitions', values.repetitions)];
  const parts = partsTable(measureInProcess(rounds, runs));
  const turns = values['in-process'] ? [] : await measurePlanes(seconds, repetitions);
  const planes = turns.length === 0 ? [] : [planesTable(turns)];
  return {
    bench: 'gate',
    command: ['npm run bench -- gate', ...args].join(' '),
    notes: ['The gate may cost a call 25 µs of CPU and no trip to the store; a trip would end this bench.'],
    tables: [parts, ...planes],
    ratios: ratios(
      planes.flatMap(({ rows }) =>
        rows.map(({ label, values: figures }) => ({
          id: `gate/${label}/with-to-without`,
          value: figures[0] ?? Number.NaN,
          better: 'lower' as const,
        })),
      ),
    ),
    details: turns,
  };
}

await runBench({ usage: USAGE, run });
