import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Meter } from './meter.ts';
import { METRICS, type MetricName } from './metric-table.ts';

interface Entry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly says: string;
  readonly buckets?: readonly number[];
}

/** Registers at the start every metric of the table that this process serves, so that a scrape shows zeros instead of no value. */
export function createPrometheusMeter(serves: (name: MetricName) => boolean): Meter {
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { kind, labels, says, buckets }] of Object.entries(METRICS) as [MetricName, Entry][]) {
    if (!serves(name)) continue;
    const settings = { name, help: says, labelNames: [...labels], registers: [registry] };
    if (kind === 'counter') counters.set(name, new Counter(settings));
    else if (kind === 'gauge') gauges.set(name, new Gauge(settings));
    else histograms.set(name, new Histogram({ ...settings, buckets: [...(buckets ?? [])] }));
  }
  return {
    count: (name, labels, by = 1) => counters.get(name)?.inc(labels, by),
    observe: (name, labels, value) => histograms.get(name)?.observe(labels, value),
    set: (name, labels, value) => gauges.get(name)?.set(labels, value),
    clear(name) {
      gauges.get(name)?.reset();
      // `reset` sets a gauge without labels to 0, which would look like a known value. So the gauge is removed.
      if (METRICS[name].labels.length === 0) gauges.get(name)?.remove();
    },
    text: () => registry.metrics(),
  };
}
