import { shown } from '../harness/statistics.ts';
import { drawing, line, round, text, WIDTH } from './svg.ts';

export interface LinePlot {
  readonly title: string;
  readonly unit: string;
  /** Labels under the horizontal axis, at equal distances. Each step is ten times the one before. */
  readonly steps: readonly string[];
  readonly across: string;
  /** One value per step; NaN if nothing was measured. */
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[];
  /** Values in this range count as equal. */
  readonly band?: readonly [low: number, high: number];
}

const AREA = { left: 56, right: WIDTH - 24, top: 48, bottom: 250 };
const GRID_LINES = 4;

export function drawLines({ title, unit, steps, across, series, band }: LinePlot): string {
  const values = series.flatMap((one) => one.values).filter(Number.isFinite);
  const most = Math.max(...values, band?.[1] ?? 0) * 1.1;
  const x = (index: number): number =>
    AREA.left + 24 + (index / Math.max(1, steps.length - 1)) * (AREA.right - AREA.left - 48);
  const y = (value: number): number => AREA.bottom - (value / most) * (AREA.bottom - AREA.top);
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, index) => (most / GRID_LINES) * index).flatMap((value) => [
    line(AREA.left, y(value), AREA.right, y(value)),
    text(AREA.left - 8, y(value) + 4, shown(value, 1), 'soft', 'end'),
  ]);
  const shade =
    band === undefined
      ? []
      : [
          `<rect class="band" x="${AREA.left}" y="${round(y(band[1]))}" width="${AREA.right - AREA.left}" height="${round(y(band[0]) - y(band[1]))}"/>`,
        ];
  const labels = steps.map((step, index) => text(x(index), AREA.bottom + 18, step, 'soft', 'middle'));
  const lines = series.flatMap((one, index) => drawSeries(one.values, `s${index % 4}`, x, y));
  const legend = series.flatMap(({ label }, index) => {
    const top = AREA.bottom + 62 + index * 18;
    return [
      `<rect class="s${index % 4}" x="${AREA.left}" y="${top - 10}" width="12" height="10" rx="2"/>`,
      text(AREA.left + 18, top, label),
    ];
  });
  const parts = [
    ...grid,
    ...shade,
    ...labels,
    ...lines,
    text(AREA.left, AREA.bottom + 38, `${across}; ${unit}`, 'soft'),
    ...legend,
  ];
  const said = series
    .map(
      ({ label, values: own }) =>
        `${label}: ${own.map((value, index) => `${steps[index]} ${shown(value, 2)}`).join(', ')}`,
    )
    .join('; ');
  return drawing(title, `${said} (${unit})`, AREA.bottom + 62 + series.length * 18, parts);
}

function drawSeries(
  values: readonly number[],
  kind: string,
  x: (index: number) => number,
  y: (value: number) => number,
): string[] {
  const points = values.flatMap((value, index) => (Number.isFinite(value) ? [[round(x(index)), round(y(value))]] : []));
  return [
    `<polyline class="${kind}" style="fill:none" stroke-width="2" points="${points.map((point) => point.join(',')).join(' ')}"/>`,
    ...points.map(([px, py]) => `<circle class="${kind}" cx="${px}" cy="${py}" r="3"/>`),
  ];
}
