/** One line or layer. Its colour is a CSS class `tone-…`, so that themes and forced colours apply to the canvas too. */
export interface ChartSeries {
  readonly label: string;
  readonly tone: string;
  /** One per time; null where there is nothing to say. */
  readonly values: readonly (number | null)[];
}

export interface ChartSpec {
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** `stack`: bars on top of each other, the first one lowest. */
  readonly kind: 'lines' | 'stack';
  readonly format: (value: number) => string;
}

/** Each layer with all below it added, which is what is drawn. */
export function stackLayers(series: readonly ChartSeries[]): number[][] {
  const below: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      below[index] = (below[index] ?? 0) + (value ?? 0);
      return below[index];
    }),
  );
}

/** What one series comes to: the sum of a layer, the newest value of a line. */
export function summariseValues(values: readonly (number | null)[], kind: ChartSpec['kind']): number | null {
  const known = values.filter((value) => value !== null);
  return kind === 'stack' ? known.reduce((sum, value) => sum + value, 0) : (known.at(-1) ?? null);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** As short as the span allows: seconds only where they differ, the day only where there are several. */
export function timeFormat(spanMs: number): (at: number) => string {
  const format = new Intl.DateTimeFormat(undefined, {
    ...(spanMs > DAY_MS ? { day: 'numeric', month: 'short' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    ...(spanMs < 5 * 60_000 ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
  });
  return (at) => format.format(at);
}
