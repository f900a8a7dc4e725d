/** One line or layer. Its colour is a CSS class `tone-…`, so that themes and forced colours also apply to the canvas. */
export interface ChartSeries {
  readonly label: string;
  readonly tone: string;
  /** One value per time; null if there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartSpec {
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** `stack`: bars on top of each other, with the first series at the bottom. */
  readonly kind: 'lines' | 'stack';
  readonly format: (value: number) => string;
}

/** The cumulated values to draw: each layer plus all layers below it. */
export function stackLayers(series: readonly ChartSeries[]): number[][] {
  const below: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      below[index] = (below[index] ?? 0) + (value ?? 0);
      return below[index];
    }),
  );
}

/** The summary of one series: the sum of a layer, or the newest value of a line. */
export function summariseValues(values: readonly (number | null)[], kind: ChartSpec['kind']): number | null {
  const known = values.filter((value) => value !== null);
  return kind === 'stack' ? known.reduce((sum, value) => sum + value, 0) : (known.at(-1) ?? null);
}

/** The indices of the values without a neighbour. No line goes through them, so they need a dot of their own. */
export function findIsolated(values: readonly (number | null | undefined)[]): number[] {
  const isValue = (index: number): boolean => values[index] !== null && values[index] !== undefined;
  return [...values.keys()].filter((index) => isValue(index) && !isValue(index - 1) && !isValue(index + 1));
}

const MIN_SPAN_MS = 60_000;

/** The time axis of a line chart: it ends at the newest value and spans at least a minute. */
export function timeRange(times: readonly number[]): [from: number, to: number] | undefined {
  const [first, last] = [times[0], times.at(-1)];
  return first === undefined || last === undefined ? undefined : [Math.min(first, last - MIN_SPAN_MS), last];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Formats a time as short as the span allows: with seconds only for a short span, with the day only for a span of more than a day. */
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
