import { median, shown } from '../harness/statistics.ts';
import { formatTable } from '../harness/table.ts';
import type { Measurement } from './pair.ts';
import { LIMIT, PEER, type VariantName } from './variants.ts';

export interface Cell extends Measurement {
  readonly variant: VariantName;
  readonly concurrency: number;
  readonly repetition: number;
}

export interface Summary {
  readonly variant: VariantName;
  readonly concurrency: number;
  readonly timeToLimit: number;
  readonly throughputToPeer: number;
  readonly cpuToLimit: number;
  readonly callsPerSecond: number;
  readonly callerUs: number;
  readonly workerUs: number;
  readonly redisUs: number;
}

export function callsPerSecond(cell: Measurement): number {
  return (cell.calls / cell.elapsedMs) * 1000;
}

/** All processes together. Where neighbours take the cores away, it says more than the time. */
function totalCpu({ callerUs, workerUs, redisUs }: Cell): number {
  return [callerUs, workerUs, redisUs].filter(Number.isFinite).reduce((sum, value) => sum + value, 0);
}

/** Ratios are taken inside each repetition, where both stood minutes closer together, and their median is shown. */
export function summarise(cells: readonly Cell[], variant: VariantName, concurrency: number): Summary {
  const own = cells.filter((cell) => cell.variant === variant && cell.concurrency === concurrency);
  const ratioTo = (other: VariantName, measure: (cell: Cell) => number): number =>
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
    throughputToPeer: ratioTo(PEER, callsPerSecond),
    cpuToLimit: ratioTo(LIMIT, totalCpu),
    callsPerSecond: median(own.map(callsPerSecond)),
    callerUs: median(own.map((cell) => cell.callerUs)),
    workerUs: median(own.map((cell) => cell.workerUs)),
    redisUs: median(own.map((cell) => cell.redisUs)),
  };
}

const HEADER = [
  'variant',
  `time / ${LIMIT}`,
  `calls / ${PEER}`,
  `CPU / ${LIMIT}`,
  'calls/s',
  'caller µs',
  'worker µs',
  'redis µs',
];

export function formatSummaries(summaries: readonly Summary[]): string {
  const rows = summaries.map((one) => [
    one.variant,
    shown(one.timeToLimit, 2),
    shown(one.throughputToPeer, 2),
    shown(one.cpuToLimit, 2),
    shown(one.callsPerSecond),
    shown(one.callerUs, 1),
    shown(one.workerUs, 1),
    shown(one.redisUs, 1),
  ]);
  return formatTable(HEADER, rows);
}
