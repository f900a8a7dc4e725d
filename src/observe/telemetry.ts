import type { EventSource } from '../domain/ports/events.ts';
import type { Log } from '../domain/ports/log.ts';
import type { Collector } from './metrics/collect-process.ts';
import type { ReadStore } from './metrics/collect-store.ts';
import type { Meter } from './metrics/meter.ts';
import { METRICS, type MetricName } from './metrics/metric-table.ts';
import { samplerOf, type TraceOptions } from './traces/trace-options.ts';
import type { SpanExport } from './traces/export-spans.ts';

export interface MetricOptions {
  /** Max tools with their own label; all others share one. */
  readonly tools?: number;
}

/** Metrics and traces of a process, in addition to its log and the audit. Absent parts are off, and cost nothing. */
export interface TelemetryOptions {
  readonly traces?: TraceOptions;
  readonly metrics?: MetricOptions;
}

export type Role = 'worker' | 'gateway' | 'dev' | 'client';

export interface TelemetryNeeds {
  readonly role: Role;
  readonly release: string;
  /** Distinguishes the processes of one service. */
  readonly instance: string;
  readonly log: Log;
}

/** Facts about the process whose events are followed: its pool, and which tools it serves. */
export interface Followed {
  readonly pool?: string;
  readonly serves?: (tool: string) => boolean;
}

export interface WorkerGauges {
  readonly pool: string;
  readonly concurrency: number;
  readonly running: () => number;
}

export interface Telemetry {
  /** True if spans are made. Tools should then run with their span active. */
  readonly traces: boolean;
  /** Counts and traces these events until the returned function is called. */
  follow(events: EventSource, about?: Followed): () => void;
  /** Adds gauges for the current state of a worker. */
  followWorker(worker: WorkerGauges): void;
  /** Adds gauges for what the store knows about the whole plane. */
  followStore(store: ReadStore): void;
  /** Counts an attempt to deliver an effect when it has ended. */
  readonly countEffect: (platform: string, result: 'delivered' | 'failed' | 'retried' | 'lost') => void;
  /** All metrics in the text format of Prometheus; undefined if metrics are off. */
  readonly metricsText: (() => Promise<string>) | undefined;
  /** Sends the waiting spans. A collector that does not answer delays this by at most two seconds. */
  close(): Promise<void>;
}

const DEFAULT_TOOLS = 100;
/** Max waiting events. The queue is long, so that a burst of events is delivered late instead of being lost. */
const MAX_WAITING = 50_000;

const SERVED: Readonly<Record<Role, readonly string[]>> = {
  worker: ['worker', 'all'],
  gateway: ['caller', 'plane', 'all'],
  dev: ['worker', 'caller', 'plane', 'all'],
  client: ['caller', 'all'],
};

const isServedBy = (role: Role, name: MetricName): boolean => SERVED[role].includes(METRICS[name].where);

/** Loads only what the options ask for. Undefined if both are off: then nothing listens to events. */
export async function startTelemetry(options: TelemetryOptions, needs: TelemetryNeeds): Promise<Telemetry | undefined> {
  if (options.traces === undefined && options.metrics === undefined) return undefined;
  const metrics = options.metrics && (await openMetrics(options.metrics, needs));
  const traces = options.traces && (await openTraces(options.traces, needs, metrics?.meter));
  const stops = new Set<() => void>();
  return {
    traces: traces !== undefined,
    follow(events, about = {}) {
      const own = [metrics?.follow(events, about), traces?.follow(events)].filter((stop) => stop !== undefined);
      const stop = (): void => {
        for (const each of own) each();
        stops.delete(stop);
      };
      stops.add(stop);
      return stop;
    },
    followWorker: (worker) => metrics?.followWorker(worker),
    followStore: (store) => metrics?.followStore(store),
    countEffect: (platform, result) => metrics?.meter.count('sallyport_effects_total', { platform, result }),
    metricsText: metrics && (() => metrics.text()),
    async close() {
      for (const stop of stops) stop();
      metrics?.close();
      await traces?.close();
    },
  };
}

async function openTraces(options: TraceOptions, needs: TelemetryNeeds, meter: Meter | undefined) {
  const [{ openSpanExport }, { createCallTracer }] = await Promise.all([
    import('./traces/export-spans.ts'),
    import('./traces/trace-calls.ts'),
  ]);
  const onSpans = meter && ((result: string, count: number) => meter.count('sallyport_spans_total', { result }, count));
  const spans: SpanExport = await openSpanExport(options, { ...needs, onSpans });
  const tracer = createCallTracer((span) => spans.add(span));
  const samples = samplerOf(options.sampleRatio ?? 1);
  return {
    follow: (events: EventSource) =>
      events.subscribe({
        listener: (event) => tracer.receive(event),
        maxWaiting: MAX_WAITING,
        samples,
        sampledOnly: true,
      }),
    async close() {
      tracer.close();
      await spans.close();
    },
  };
}

async function openMetrics(options: MetricOptions, needs: TelemetryNeeds) {
  const [{ createPrometheusMeter }, { COUNTED_KINDS, createEventCounter }, { collectProcess }, { collectStore }] =
    await Promise.all([
      import('./metrics/prometheus-meter.ts'),
      import('./metrics/count-events.ts'),
      import('./metrics/collect-process.ts'),
      import('./metrics/collect-store.ts'),
    ]);
  const { role, release, log } = needs;
  const meter = createPrometheusMeter((name) => isServedBy(role, name));
  const collectors: Collector[] = [collectProcess(meter, { release, role })];
  return {
    meter,
    follow(events: EventSource, { pool = '', serves = () => true }: Followed) {
      const listener = createEventCounter(meter, { tools: options.tools ?? DEFAULT_TOOLS, pool, serves });
      return events.subscribe({ listener, kinds: COUNTED_KINDS, maxWaiting: MAX_WAITING, spans: false });
    },
    followWorker({ pool, concurrency, running }: WorkerGauges) {
      meter.set('sallyport_worker_concurrency', { pool }, concurrency);
      collectors.push({ collect: () => meter.set('sallyport_worker_running', { pool }, running()), close() {} });
    },
    followStore(store: ReadStore) {
      const onError = (error: unknown): void => log.warn({ error }, 'metrics: the store could not be read');
      collectors.push(collectStore(meter, store, onError));
    },
    async text(): Promise<string> {
      await Promise.all(collectors.map(async (collector) => collector.collect()));
      return meter.text();
    },
    close() {
      for (const collector of collectors) collector.close();
    },
  };
}
