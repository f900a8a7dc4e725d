import { shown } from '../harness/statistics.ts';
import { drawing, line, round, text, WIDTH } from './svg.ts';

export interface BarPlot {
  readonly title: string;
  /** The meaning of one unit, such as "× bare streams". */
  readonly unit: string;
  readonly bars: readonly { readonly label: string; readonly value: number; readonly own: boolean }[];
  /** A line at the ideal value. */
  readonly mark?: number;
}

const LEFT = 160;
const RIGHT = 90;
const TOP = 48;
const STEP = 26;

export function drawBars({ title, unit, bars, mark }: BarPlot): string {
  const most = Math.max(...bars.map(({ value }) => value), mark ?? 0);
  const scale = (value: number): number => (value / most) * (WIDTH - LEFT - RIGHT);
  const height = TOP + bars.length * STEP + 34;
  const parts = bars.flatMap(({ label, value, own }, index) => {
    const y = TOP + index * STEP;
    return [
      text(LEFT - 10, y + 14, label, 'text', 'end'),
      `<rect class="${own ? 'own' : 'other'}" x="${LEFT}" y="${y + 2}" width="${round(Math.max(1, scale(value)))}" height="16" rx="2"/>`,
      text(LEFT + scale(value) + 6, y + 14, shown(value, 2)),
    ];
  });
  const bottom = TOP + bars.length * STEP;
  const marks =
    mark === undefined
      ? []
      : [line(LEFT + scale(mark), TOP - 6, LEFT + scale(mark), bottom, 'mark', ' stroke-dasharray="4 3"')];
  const said = bars.map(({ label, value }) => `${label} ${shown(value, 2)}`).join(', ');
  return drawing(title, `${said} (${unit})`, height, [...parts, ...marks, text(LEFT, bottom + 20, unit, 'soft')]);
}
