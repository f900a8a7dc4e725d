import { ratios, row, type BenchReport, type Column, type Ratio, type ReportTable } from '../harness/report.ts';
import { median } from '../harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import type { Measurement } from './pair.ts';
import { targetsOf } from './targets.ts';
import { namesOf } from './names.ts';
import { LIMIT, NAIVE, PEER, PRODUCT, type MeasuredName, type VariantName } from './variants.ts';

export interface Cell extends Measurement {
  readonly variant: MeasuredName;
  readonly concurrency: number;
  readonly repetition: number;
}

export interface Summary {
  readonly variant: MeasuredName;
  readonly concurrency: number;
  readonly timeToLimit: number;
  /** NaN without `--against`. */
  readonly timeToAgainst: number;
  readonly cpuToAgainst: number;
  readonly throughputToPeer: number;
  readonly throughputToNaive: number;
  readonly cpuToLimit: number;
  readonly callsPerSecond: number;
  readonly callerUs: number;
  readonly workerUs: number;
  readonly redisUs: number;
}

export function callsPerSecond(cell: Measurement): number {
  return (cell.calls / cell.elapsedMs) * 1000;
}

/** CPU of all processes together. If other programs use the cores, it is more meaningful than the time. */
function totalCpu({ callerUs, workerUs, redisUs }: Cell): number {
  return [callerUs, workerUs, redisUs].filter(Number.isFinite).reduce((sum, value) => sum + value, 0);
}

/** Takes each ratio of two variants within one repetition, because they were measured shortly after each other there. Shows the median. */
export function summarise(cells: readonly Cell[], variant: MeasuredName, concurrency: number): Summary {
  const own = cells.filter((cell) => cell.variant === variant && cell.concurrency === concurrency);
  const ratioTo = (other: MeasuredName, measure: (cell: Cell) => number): number =>
    median(
      own.flatMap((cell) => {
        const twin = cells.find(
          (one) => one.variant === other && one.concurrency === concurrency && one.repetition === cell.repetition,
        );
        return twin === undefined ? [] : [measure(cell) / measure(twin)];
      }),
    );
  return {
    variant,
    concurrency,
    timeToLimit: ratioTo(LIMIT, (cell) => 1 / callsPerSecond(cell)),
    timeToAgainst: ratioTo(`${variant as VariantName}@against`, (cell) => 1 / callsPerSecond(cell)),
    cpuToAgainst: ratioTo(`${variant as VariantName}@against`, totalCpu),
    throughputToPeer: ratioTo(PEER, callsPerSecond),
    throughputToNaive: ratioTo(NAIVE, callsPerSecond),
    cpuToLimit: ratioTo(LIMIT, totalCpu),
    callsPerSecond: median(own.map(callsPerSecond)),
    callerUs: median(own.map((cell) => cell.callerUs)),
    workerUs: median(own.map((cell) => cell.workerUs)),
    redisUs: median(own.map((cell) => cell.redisUs)),
  };
}

interface SummaryColumn extends Column {
  readonly value: (summary: Summary) => number;
  /** The column is left out of tables in which no row has a value for it. */
  readonly optional?: true;
}

const COLUMNS: readonly SummaryColumn[] = [
  { title: `time / ${LIMIT}`, digits: 2, value: ({ timeToLimit }) => timeToLimit },
  { title: 'time / against', digits: 2, value: ({ timeToAgainst }) => timeToAgainst, optional: true },
  { title: 'CPU / against', digits: 2, value: ({ cpuToAgainst }) => cpuToAgainst, optional: true },
  { title: `calls / ${PEER}`, digits: 2, value: ({ throughputToPeer }) => throughputToPeer },
  { title: `calls / ${NAIVE}`, digits: 2, value: ({ throughputToNaive }) => throughputToNaive },
  { title: `CPU / ${LIMIT}`, digits: 2, value: ({ cpuToLimit }) => cpuToLimit },
  { title: 'calls/s', digits: 0, value: (summary) => summary.callsPerSecond },
  { title: 'caller µs', digits: 1, value: ({ callerUs }) => callerUs },
  { title: 'worker µs', digits: 1, value: ({ workerUs }) => workerUs },
  { title: 'redis µs', digits: 1, value: ({ redisUs }) => redisUs },
];

function tableOf(concurrency: number, summaries: readonly Summary[]): ReportTable {
  const shown = COLUMNS.filter(
    ({ optional, value }) => optional === undefined || summaries.some((one) => Number.isFinite(value(one))),
  );
  return {
    id: `round-trip-${concurrency}`,
    title: `Round trip, ${concurrency} in flight`,
    of: 'variant',
    columns: shown.map(({ title, digits }) => ({ title, digits })),
    rows: summaries.map((one) =>
      row(
        one.variant,
        shown.map(({ value }) => value(one)),
      ),
    ),
  };
}

const isProduct = (name: MeasuredName): name is VariantName => (PRODUCT as readonly MeasuredName[]).includes(name);

/** Ratios of Sallyport's own variants only. How the others compare with each other is not kept. */
function ratiosOf(summary: Summary): Ratio[] {
  if (!isProduct(summary.variant)) return [];
  const id = (name: string): string => `round-trip/${summary.concurrency}/${summary.variant}/${name}`;
  const targets = targetsOf(summary.variant, summary.concurrency);
  return ratios([
    { id: id('time-to-raw'), value: summary.timeToLimit, better: 'lower', ...targets.time },
    { id: id('calls-to-bullmq'), value: summary.throughputToPeer, better: 'higher', ...targets.peer },
    { id: id('calls-to-naive'), value: summary.throughputToNaive, better: 'higher', ...targets.naive },
    { id: id('cpu-to-raw'), value: summary.cpuToLimit, better: 'lower' },
  ]);
}

export function reportRoundTrip(
  command: string,
  options: Pick<BenchOptions, 'concurrencies' | 'variants' | 'againstFolder'>,
  { cells, notes }: { readonly cells: readonly Cell[]; readonly notes: readonly string[] },
): BenchReport {
  const { concurrencies } = options;
  const summaries = concurrencies.map((concurrency) =>
    namesOf(options).map((variant) => summarise(cells, variant, concurrency)),
  );
  return {
    bench: 'round-trip',
    command,
    notes,
    tables: concurrencies.map((concurrency, index) => tableOf(concurrency, summaries[index]!)),
    ratios: summaries.flat().flatMap(ratiosOf),
    details: cells,
  };
}
