import type { BenchReport, ReportTable } from '../harness/report.ts';
import { drawBars } from './bar-plot.ts';
import { drawLines } from './line-plot.ts';

/** The plots that can be drawn from the figures of a report, by file name. */
export function plotsOf(benches: readonly BenchReport[]): ReadonlyMap<string, string> {
  const tables = new Map(benches.flatMap(({ tables: own }) => own.map((table) => [table.id, table] as const)));
  const plots = new Map<string, string>();
  const roundTrip = tables.get('round-trip-128');
  if (roundTrip !== undefined) {
    plots.set(
      'round-trip.svg',
      barsOf(roundTrip, 0, 'Time of a call, 128 in flight', '× bare streams; less is better', 1),
    );
  }
  const mcp = [...tables.values()].filter(({ id }) => id.startsWith('mcp-')).at(-1);
  if (mcp !== undefined) plots.set('mcp.svg', barsOf(mcp, 0, mcp.title, '× a direct MCP server; less is better', 1));
  const depth = depthPlot([...tables.values()].filter(({ id }) => id.startsWith('round-trip-')));
  if (depth !== undefined) plots.set('in-flight.svg', depth);
  for (const dimension of ['settled', 'population']) {
    const found = [...tables.values()].filter(({ id }) => id.startsWith('growth-') && id.endsWith(`-${dimension}`));
    if (found.length > 0) plots.set(`growth-${dimension}.svg`, growthPlot(found, dimension));
  }
  return plots;
}

const isOwn = (label: string): boolean => label.startsWith('sallyport') || label === 'embedded';

function barsOf({ rows }: ReportTable, column: number, title: string, unit: string, mark: number): string {
  const bars = rows.flatMap(({ label, values }) => {
    const value = values[column];
    return value === null || value === undefined ? [] : [{ label, value, own: isOwn(label) }];
  });
  return drawBars({ title, unit, bars, mark });
}

function depthPlot(tables: readonly ReportTable[]): string | undefined {
  const names = ['sallyport-read', 'sallyport-unsafe', 'naive-parallel', 'bullmq'];
  if (tables.length < 2) return undefined;
  const series = names.map((label) => ({
    label,
    values: tables.map(({ rows }) => rows.find((row) => row.label === label)?.values[0] ?? Number.NaN),
  }));
  return drawLines({
    title: 'Time of a call, by calls in flight',
    unit: '× bare streams; less is better',
    across: 'calls in flight',
    steps: tables.map(({ id }) => id.slice('round-trip-'.length)),
    series: series.filter(({ values }) => values.some(Number.isFinite)),
  });
}

function growthPlot(tables: readonly ReportTable[], dimension: string): string {
  const series = tables.flatMap(({ id, rows }) => {
    const store = id.split('-')[1]!;
    return [
      { label: `${store}, time`, values: rows.map(({ values }) => values[0] ?? Number.NaN) },
      { label: `${store}, CPU`, values: rows.map(({ values }) => values[1] ?? Number.NaN) },
    ];
  });
  return drawLines({
    title:
      dimension === 'settled'
        ? 'Cost of a call, by calls that the store keeps'
        : 'Cost of a call, by agents, tools and sessions',
    unit: '× the smallest; grey is ± 15 %',
    across: tables[0]!.of,
    steps: tables[0]!.rows.map(({ label }) => label),
    series,
    band: [1 / 1.15, 1.15],
  });
}
