// Measures calls per second with one, two and four workers, for a tool that does nothing and for one that waits for something else.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { cpuMicrosecondsOf } from './harness/cpu-of.ts';
import { toCount, toCounts, toNumber } from './harness/options.ts';
import { ratios, row, type BenchReport, type ReportTable } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { median, shown } from './harness/statistics.ts';
import { openPlane, type BenchPlane } from './plane/open-plane.ts';
import { runLoop } from './round-trip/run-loop.ts';
import type { BenchReply } from './round-trip/variant.ts';

const USAGE = `npm run bench -- scaling [options]
  --workers 1,2,4       fleets that are compared, the smallest first (default 1,2,4)
  --seconds 2           per cell (default 2)
  --repetitions 5       of the whole round (default 5)
  --json                the report as JSON`;

/** Slots of one worker. A tool that waits is limited by them, and more workers have more slots. */
const CONCURRENCY = 32;
const TOOLS = [
  { tool: 'read', inFlight: 128, about: 'A tool that does nothing: what is left is the plane' },
  { tool: 'wait', inFlight: 512, about: `A tool that waits 20 ms: a worker has ${CONCURRENCY} slots` },
] as const;
const IN_FLIGHT_MOST = 512;
const CALLS_OF_SESSION = 32;

interface Cell {
  readonly tool: string;
  readonly workers: number;
  readonly repetition: number;
  readonly callsPerSecond: number;
  /** Number of busy cores, per role. */
  readonly caller: number;
  readonly fleet: number;
  readonly redis: number;
}

async function cpuOf({ workers, redis }: BenchPlane): Promise<readonly [number, number, number]> {
  const fleet = (await Promise.all(workers.map((worker) => worker.order({ kind: 'cpu' })))) as number[];
  const { user, system } = process.cpuUsage();
  return [user + system, fleet.reduce((sum, each) => sum + each, 0), cpuMicrosecondsOf(redis!.pid)];
}

async function measure(plane: BenchPlane, tool: string, concurrency: number, seconds: number) {
  const { client, sessions } = plane;
  const before = await cpuOf(plane);
  const call = async ({ id, text }: { id: number; text: string }): Promise<BenchReply> => {
    const answer = await client.call(
      sessions[id % sessions.length]!,
      `bench.${tool}`,
      { id, text },
      { waitMs: 60_000 },
    );
    if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok')
      throw new Error(`it ended as ${JSON.stringify(answer)}`);
    return answer.outcome.structured as unknown as BenchReply;
  };
  const { calls, elapsedMs } = await runLoop(
    { call, close: async () => undefined },
    { concurrency, seconds, maxCalls: 1e6 },
  );
  const after = await cpuOf(plane);
  const [caller, fleet, redis] = after.map((us, index) => (us - before[index]!) / 1000 / elapsedMs);
  return { callsPerSecond: (calls / elapsedMs) * 1000, caller: caller!, fleet: fleet!, redis: redis! };
}

function tableOf(cells: readonly Cell[], tool: (typeof TOOLS)[number], fleets: readonly number[]): ReportTable {
  const of = (workers: number): Cell[] => cells.filter((cell) => cell.tool === tool.tool && cell.workers === workers);
  const smallest = of(fleets[0]!);
  return {
    id: `scaling-${tool.tool}`,
    title: `${tool.about}, ${tool.inFlight} calls in flight`,
    of: 'workers',
    columns: [
      { title: `calls / ${fleets[0]} worker`, digits: 2 },
      { title: 'calls/s', digits: 0 },
      { title: 'caller cores', digits: 2 },
      { title: 'worker cores', digits: 2 },
      { title: 'redis cores', digits: 2 },
      { title: `of ${availableParallelism()} cores`, digits: 2 },
    ],
    rows: fleets.map((workers) => {
      const own = of(workers);
      const middle = (pick: (cell: Cell) => number): number => median(own.map(pick));
      return row(String(workers), [
        median(own.map((cell, index) => cell.callsPerSecond / smallest[index]!.callsPerSecond)),
        middle((cell) => cell.callsPerSecond),
        middle((cell) => cell.caller),
        middle((cell) => cell.fleet),
        middle((cell) => cell.redis),
        middle((cell) => cell.caller + cell.fleet + cell.redis),
      ]);
    }),
  };
}

async function measureAll(fleets: readonly number[], seconds: number, repetitions: number): Promise<Cell[]> {
  const planes = new Map<number, BenchPlane>();
  const cells: Cell[] = [];
  try {
    for (const workers of fleets) {
      progress(`opening ${workers} workers`);
      const sessions = IN_FLIGHT_MOST / CALLS_OF_SESSION;
      planes.set(workers, await openPlane('redis', { workers, concurrency: CONCURRENCY, sessions }));
    }
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      for (const { tool, inFlight } of TOOLS) {
        for (const [workers, plane] of planes) {
          const measured = await measure(plane, tool, inFlight, seconds);
          if (repetition > 0) cells.push({ tool, workers, repetition, ...measured });
          progress(
            `round ${repetition}/${repetitions}, ${tool}, ${workers} workers: ${shown(measured.callsPerSecond)} calls/s`,
          );
        }
      }
    }
  } finally {
    for (const plane of planes.values()) await plane.close();
  }
  return cells;
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      workers: { type: 'string', default: '1,2,4' },
      seconds: { type: 'string', default: '2' },
      repetitions: { type: 'string', default: '5' },
    },
  });
  const fleets = toCounts('--workers', values.workers);
  const cells = await measureAll(
    fleets,
    toNumber('--seconds', values.seconds),
    toCount('--repetitions', values.repetitions),
  );
  const tables = TOOLS.map((tool) => tableOf(cells, tool, fleets));
  return {
    bench: 'scaling',
    command: ['npm run bench -- scaling', ...args].join(' '),
    notes: [
      `${values.repetitions} × ${values.seconds} s per cell, medians; one caller, one Redis`,
      'Where all cores are busy, the machine is the bound; where they are not, the slots of the workers or one busy process are.',
    ],
    tables,
    ratios: ratios(
      tables.flatMap(({ id, rows }) =>
        rows.slice(1).map(({ label, values: figures }) => ({
          id: `scaling/${id.slice('scaling-'.length)}/${label}/calls-to-smallest`,
          value: figures[0] ?? Number.NaN,
          better: 'higher' as const,
        })),
      ),
    ),
    details: cells,
  };
}

await runBench({ usage: USAGE, run });
