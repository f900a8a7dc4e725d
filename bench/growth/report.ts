import { ratios, row, type Ratio, type ReportTable } from '../harness/report.ts';
import { median } from '../harness/statistics.ts';
import type { GrowthCell, StoreKind } from './plane.ts';
import type { Dimension } from './population.ts';

/** A cost within this factor of the smallest plane's counts as flat, because users would not notice it. */
export const FLAT = 1.15;

/** The measurements of one plane, one per repetition. */
export interface GrownCells {
  readonly size: number;
  readonly storeBytes: number;
  readonly cells: readonly GrowthCell[];
}

const MIB = 1024 * 1024;

const cpuOf = ({ callerUs, workerUs, redisUs }: GrowthCell): number =>
  [callerUs, workerUs, redisUs].filter(Number.isFinite).reduce((sum, us) => sum + us, 0);

/** Median ratio to the smallest plane. Each ratio is taken within one repetition, where both were measured closest in time. */
function ratioTo(small: GrownCells, own: GrownCells, measure: (cell: GrowthCell) => number): number {
  return median(own.cells.map((cell, index) => measure(cell) / measure(small.cells[index]!)));
}

export function reportGrowth(
  store: StoreKind,
  dimension: Dimension,
  planes: readonly GrownCells[],
): { readonly table: ReportTable; readonly ratios: readonly Ratio[] } {
  const small = planes[0]!;
  const middle = (cells: readonly GrowthCell[], pick: (cell: GrowthCell) => number): number => median(cells.map(pick));
  const rows = planes.map((plane) => {
    const time = ratioTo(small, plane, ({ usPerCall }) => usPerCall);
    const cpu = ratioTo(small, plane, cpuOf);
    return { plane, time, cpu };
  });
  const table: ReportTable = {
    id: `growth-${store}-${dimension}`,
    title: `Growth on ${store}: ${dimension}`,
    of: dimension === 'population' ? 'agents (× 10 tools, × 10 sessions)' : dimension,
    columns: [
      { title: 'time / smallest', digits: 2 },
      { title: 'CPU / smallest', digits: 2 },
      { title: 'time µs', digits: 1 },
      { title: 'caller µs', digits: 1 },
      { title: store === 'redis' ? 'worker µs' : 'process µs', digits: 1 },
      { title: 'redis µs', digits: 1 },
      { title: 'store MiB', digits: 1 },
    ],
    rows: rows.map(({ plane: { size, cells, storeBytes }, time, cpu }) =>
      row(size.toLocaleString('en-US'), [
        time,
        cpu,
        middle(cells, ({ usPerCall }) => usPerCall),
        middle(cells, ({ callerUs }) => callerUs),
        middle(cells, ({ workerUs }) => workerUs),
        middle(cells, ({ redisUs }) => redisUs),
        storeBytes / MIB,
      ]),
    ),
  };
  const grown = rows.slice(1).flatMap(({ plane: { size }, time, cpu }): Ratio[] => [
    { id: `growth/${store}/${dimension}/${size}/time`, value: time, better: 'lower', target: FLAT },
    { id: `growth/${store}/${dimension}/${size}/cpu`, value: cpu, better: 'lower', target: FLAT },
  ]);
  return { table, ratios: ratios(grown) };
}
