// Compares durable calls per second of the embedded plane (one process with a file) and of BullMQ (caller, worker and Redis).
import { parseArgs } from 'node:util';
import { toCount, toCounts, toNumber } from './harness/options.ts';
import { ratios, row, type BenchReport } from './harness/report.ts';
import { runBench } from './harness/run-bench.ts';
import { measureVariants } from './round-trip/measure.ts';
import { callsPerSecond, summarise } from './round-trip/report.ts';
import { targetsOf } from './round-trip/targets.ts';

const USAGE = `npm run bench -- embedded [options]
  --concurrency 16,128  calls in flight (default 1,16,128)
  --seconds 2           per cell (default 2)
  --repetitions 5       of the whole round (default 5)
  --warm-up 20000       calls of both that do not count (default 20000)
  --json                the report as JSON

Every commit of the embedded plane is on the disk before its answer. BullMQ's Redis writes its log once a second.`;

const COLUMNS = [
  { title: 'calls / bullmq', digits: 2 },
  { title: 'embedded calls/s', digits: 0 },
  { title: 'bullmq calls/s', digits: 0 },
  { title: 'embedded CPU µs', digits: 1 },
  { title: 'bullmq CPU µs', digits: 1 },
];

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      concurrency: { type: 'string', default: '1,16,128' },
      seconds: { type: 'string', default: '2' },
      repetitions: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '20000' },
    },
  });
  const concurrencies = toCounts('--concurrency', values.concurrency);
  const { cells, notes } = await measureVariants({
    variants: ['bullmq', 'embedded'],
    concurrencies,
    seconds: toNumber('--seconds', values.seconds),
    repetitions: toCount('--repetitions', values.repetitions),
    warmUpCalls: toCount('--warm-up', values['warm-up']),
    maxCalls: 100_000,
  });
  const rows = concurrencies.map((concurrency) => {
    const [own, peer] = (['embedded', 'bullmq'] as const).map((name) => summarise(cells, name, concurrency));
    const peerUs = peer!.callerUs + peer!.workerUs + peer!.redisUs;
    return {
      concurrency,
      ratio: own!.throughputToPeer,
      values: [own!.throughputToPeer, own!.callsPerSecond, peer!.callsPerSecond, own!.callerUs, peerUs],
    };
  });
  return {
    bench: 'embedded',
    command: ['npm run bench -- embedded', ...args].join(' '),
    notes,
    tables: [
      {
        id: 'embedded',
        title: 'Embedded, durable calls',
        of: 'in flight',
        columns: COLUMNS,
        rows: rows.map(({ concurrency, values: figures }) => row(String(concurrency), figures)),
      },
    ],
    ratios: ratios(
      rows.map(({ concurrency, ratio }) => ({
        id: `embedded/${concurrency}/calls-to-bullmq`,
        value: ratio,
        better: 'higher',
        ...targetsOf('embedded', concurrency).peer,
      })),
    ),
    details: cells.map((cell) => ({ ...cell, callsPerSecond: callsPerSecond(cell) })),
  };
}

await runBench({ usage: USAGE, run });
