import type { CounterName, GaugeName, HistogramName, LabelsOf } from './metric-table.ts';

/** What we want of a metrics library. One file knows which it is. */
export interface Meter {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Forgets all values of a gauge: what is gone must not be shown for ever. */
  clear(name: GaugeName): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
}

export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';
