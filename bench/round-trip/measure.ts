import { mkdirSync } from 'node:fs';
import { progress } from '../harness/run-bench.ts';
import { SIDE_FLAGS } from '../harness/side-process.ts';
import { shown } from '../harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import { openPair, type Pair } from './pair.ts';
import { callsPerSecond, type Cell } from './report.ts';
import { namesOf } from './names.ts';
import type { MeasuredName } from './variants.ts';

/** Max duration of the warm-up of one variant. A slow variant makes fewer warm-up calls than requested. */
const WARM_UP_SECONDS = 10;

export interface Measured {
  readonly cells: readonly Cell[];
  /** What a reader of the figures has to know. */
  readonly notes: readonly string[];
}

/** Measures all variants in one run. They take turns. */
export async function measureVariants(options: BenchOptions): Promise<Measured> {
  if (options.profileFolder !== undefined) mkdirSync(options.profileFolder, { recursive: true });
  const pairs = new Map<MeasuredName, Pair>();
  try {
    for (const name of namesOf(options)) {
      progress(`opening ${name}`);
      pairs.set(name, await openPair(name, options));
    }
    await warmUp(options, pairs);
    const cells = await measureAll(options, pairs);
    return { cells, notes: [...notesOf(options), ...[...pairs].map(([name, { about }]) => `${name}: ${about}`)] };
  } finally {
    progress('closing');
    for (const pair of pairs.values()) await pair.close();
  }
}

function notesOf({ repetitions, seconds, warmUpCalls }: BenchOptions): string[] {
  return [
    `${repetitions} × ${seconds} s per cell, medians; all processes: ${SIDE_FLAGS.join(' ')}; before: ${warmUpCalls} calls and one round that do not count`,
  ];
}

async function warmUp(options: BenchOptions, pairs: ReadonlyMap<MeasuredName, Pair>): Promise<void> {
  for (const [name, pair] of pairs) {
    progress(`warming up ${name}`);
    const concurrency = Math.max(...options.concurrencies);
    await pair.measure({ concurrency, seconds: WARM_UP_SECONDS, maxCalls: options.warmUpCalls });
  }
}

/**
 * The order is A B C D, A B C D, …, so that a temporary disturbance of the machine affects all variants alike. The first round is not
 * counted: the compiler optimises for what it has seen, so it has to see every cell first.
 */
async function measureAll(options: BenchOptions, pairs: ReadonlyMap<MeasuredName, Pair>): Promise<Cell[]> {
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
