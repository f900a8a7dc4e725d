// Round trips caller → worker → caller in a closed loop: bare streams, BullMQ and Sallyport, interleaved in one run.
// Machines differ and neighbours make noise, so the ratios are the result; the absolute numbers are only there to judge them by.
import { arch, cpus, platform } from 'node:os';
import { mkdirSync } from 'node:fs';
import { shown } from './harness/statistics.ts';
import { parseOptions, USAGE, type BenchOptions } from './round-trip/options.ts';
import { openPair, SIDE_FLAGS, type Pair } from './round-trip/pair.ts';
import { callsPerSecond, formatSummaries, summarise, type Cell } from './round-trip/report.ts';
import type { VariantName } from './round-trip/variants.ts';

/** So many calls until the compiler has seen everything; counted, because a slow variant needs more time for them. */
const WARM_UP = { calls: 20_000, seconds: 10 };

async function run(options: BenchOptions): Promise<void> {
  if (options.profileFolder !== undefined) mkdirSync(options.profileFolder, { recursive: true });
  const pairs = new Map<VariantName, Pair>();
  try {
    for (const name of options.variants) {
      progress(`opening ${name}`);
      pairs.set(name, await openPair(name, options.profileFolder));
    }
    await warmUp(options, pairs);
    const cells = await measureAll(options, pairs);
    print(options, pairs, cells);
  } finally {
    progress('closing');
    for (const pair of pairs.values()) await pair.close();
  }
}

async function warmUp(options: BenchOptions, pairs: ReadonlyMap<VariantName, Pair>): Promise<void> {
  for (const [name, pair] of pairs) {
    progress(`warming up ${name}`);
    const concurrency = Math.max(...options.concurrencies);
    await pair.measure({ concurrency, seconds: WARM_UP.seconds, maxCalls: WARM_UP.calls });
  }
}

/**
 * A B C D, A B C D, …: what disturbs the machine for a while disturbs all variants alike. The first round is not counted: the
 * compiler optimises for what it has seen, and has to see every cell.
 */
async function measureAll(options: BenchOptions, pairs: ReadonlyMap<VariantName, Pair>): Promise<Cell[]> {
  const cells: Cell[] = [];
  const { seconds, maxCalls } = options;
  for (let repetition = 0; repetition <= options.repetitions; repetition += 1) {
    for (const concurrency of options.concurrencies) {
      for (const [variant, pair] of pairs) {
        const measured = await pair.measure({ concurrency, seconds, maxCalls });
        if (repetition > 0) cells.push({ variant, concurrency, repetition, ...measured });
        const rate = shown(callsPerSecond(measured));
        progress(`round ${repetition}/${options.repetitions}, ${concurrency} in flight, ${variant}: ${rate} calls/s`);
      }
    }
  }
  return cells;
}

function print(options: BenchOptions, pairs: ReadonlyMap<VariantName, Pair>, cells: readonly Cell[]): void {
  const summaries = options.concurrencies.map((concurrency) =>
    options.variants.map((variant) => summarise(cells, variant, concurrency)),
  );
  if (options.json) {
    console.log(JSON.stringify({ options, machine: describeMachine(), summaries: summaries.flat(), cells }, null, 2));
    return;
  }
  console.log(`${describeMachine()}; ${options.repetitions} × ${options.seconds} s per cell, medians`);
  console.log(
    `All processes: ${SIDE_FLAGS.join(' ')}. Before: ${WARM_UP.calls} calls and one round that do not count.\n`,
  );
  for (const [name, { about }] of pairs) console.log(`${name}: ${about}`);
  for (const [index, rows] of summaries.entries()) {
    console.log(`\n${options.concurrencies[index]} in flight\n${formatSummaries(rows)}`);
  }
}

function describeMachine(): string {
  return `Node ${process.version}, ${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

let options: BenchOptions | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (options !== undefined) await run(options);
