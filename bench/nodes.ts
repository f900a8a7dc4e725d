// Measures start-up and round trips on each release line of Node.js. The lines take turns.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toCount, toNames } from './harness/options.ts';
import { row, type BenchReport } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { startSide } from './harness/side-process.ts';
import { median } from './harness/statistics.ts';
import type { Order, Spent } from './nodes/line-side.ts';
import { cpuOfCommand, startOfDev } from './nodes/start-up.ts';
import { STORE_KINDS } from './plane/open-plane.ts';

const LINES = ['22', '24', '26'] as const;
const USAGE = `npm run bench -- nodes [options]
  --line 22,24          (default ${LINES.join(',')})
  --repetitions 9       of each measurement, the lines in turns (default 9)
  --calls 2000          of each round trip (default 2000)
  --json                the report as JSON

The programs come from npm, by the lock file in tools/nodes. Figures are medians.`;

const WIDTHS = [1, 64] as const;
const COLUMNS = [
  { title: '--help CPU s', digits: 2 },
  { title: 'call --help CPU s', digits: 2 },
  { title: 'dev ready CPU s', digits: 2 },
  { title: 'dev ready s', digits: 2 },
  ...STORE_KINDS.flatMap((store) => WIDTHS.map((width) => ({ title: `${store} ${width} CPU µs`, digits: 0 }))),
];

function programs(): Record<string, string> {
  const script = fileURLToPath(new URL('../../scripts/node-lines.mjs', import.meta.url));
  const stdout = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, string>;
}

type Figures = number[][];

/** The start-up figures of one line: CPU of two commands that print help, then CPU and time until `sallyport dev` is ready. */
async function measureStart(node: string): Promise<number[]> {
  const help = [cpuOfCommand(node, ['--help']), cpuOfCommand(node, ['call', '--help'])];
  const { cpuSeconds, wallSeconds } = await startOfDev(node);
  return [...help, cpuSeconds, wallSeconds];
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      line: { type: 'string', default: LINES.join(',') },
      repetitions: { type: 'string', default: '9' },
      calls: { type: 'string', default: '2000' },
    },
  });
  const lines = toNames('--line', values.line, LINES);
  const repetitions = toCount('--repetitions', values.repetitions);
  const calls = toCount('--calls', values.calls);
  const nodes = programs();
  const file = fileURLToPath(new URL('./nodes/line-side.js', import.meta.url));
  const starts = new Map<string, Figures>(lines.map((line) => [line, []]));
  const trips = new Map<string, Figures>(lines.map((line) => [line, []]));
  // The first round fills the caches of compiled code and is not counted.
  for (let round = 0; round <= repetitions; round += 1) {
    progress(`start-up, round ${round} of ${repetitions}`);
    for (const line of lines) {
      const figures = await measureStart(nodes[line]!);
      if (round > 0) starts.get(line)!.push(figures);
    }
  }
  const sides = lines.map((line) => ({
    line,
    side: startSide<Order>({ file, name: `Node ${line}`, node: nodes[line]! }),
  }));
  for (let round = 0; round <= repetitions; round += 1) {
    progress(`round trips, round ${round} of ${repetitions}`);
    for (const { line, side } of sides) {
      const figures: number[] = [];
      for (const store of STORE_KINDS) {
        for (const width of WIDTHS) {
          const count = width === 1 ? Math.ceil(calls / 10) : calls;
          figures.push(((await side.order({ kind: 'calls', store, count, width })) as Spent).cpuUs);
        }
      }
      if (round > 0) trips.get(line)!.push(figures);
    }
  }
  for (const { side } of sides) await side.close();
  const middle = (figures: Figures): number[] => figures[0]!.map((_, at) => median(figures.map((each) => each[at]!)));
  return {
    bench: 'nodes',
    command: ['npm run bench -- nodes', ...args].join(' '),
    notes: [
      'CPU of a round trip is that of the caller per call, with 1 or 64 in flight. On a file the caller is the worker too.',
    ],
    tables: [
      {
        id: 'nodes',
        title: 'Start-up and round trips by line of Node.js',
        of: 'Node',
        columns: COLUMNS,
        rows: lines.map((line) => row(line, [...middle(starts.get(line)!), ...middle(trips.get(line)!)])),
      },
    ],
    // There is no ratio to keep: the lines are compared with each other, and this project cannot make one of them faster.
    ratios: [],
  };
}

await runBench({ usage: USAGE, run });
