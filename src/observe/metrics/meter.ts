import type { CounterName, GaugeName, HistogramName, LabelsOf } from './metric-table.ts';

/** What Sallyport needs from a metrics library. Only one file depends on a particular library. */
export interface Meter {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Removes all values of a gauge, so that values which no longer exist are not shown forever. */
  clear(name: GaugeName): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';
