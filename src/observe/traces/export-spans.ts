import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '../../domain/ports/log.ts';
import { RESOURCE, SCOPE } from './conventions.ts';
import { toReadableSpan } from './readable-span.ts';
import type { SpanDraft } from './span-draft.ts';
import { DEFAULT_ENDPOINT, DEFAULT_SERVICE_NAME, samplerOf, type TraceOptions } from './trace-options.ts';

export type SpanFate = 'exported' | 'failed' | 'dropped';

export interface SpanExport {
  add(span: SpanDraft): void;
  /** Sends the waiting spans for at most `CLOSE_MS`. Spans that a slow collector has not taken by then are lost. */
  close(): Promise<void>;
}

export interface ExportNeeds {
  readonly log: Log;
  readonly release: string;
  readonly role: string;
  readonly instance: string;
  readonly onSpans?: ((fate: SpanFate, count: number) => void) | undefined;
}

/** Limits of what a slow or dead collector may cost: the number of spans in memory, and the waiting times in milliseconds. */
const MAX_WAITING = 8192;
const BATCH = 512;
const DELAY_MS = 1000;
const REQUEST_MS = 5000;
const CLOSE_MS = 2000;
const TRACES_PATH = '/v1/traces';

/** Loads the OpenTelemetry SDK and opens the export. Adding a span never waits for the collector, and never fails because of it. */
export async function openSpanExport(options: TraceOptions, needs: ExportNeeds): Promise<SpanExport> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }, { registerForTools }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('./tool-spans.ts'),
    ]);
  const { headers = {}, sampleRatio = 1, serviceName = DEFAULT_SERVICE_NAME } = options;
  const endpoint = withPath(options.endpoint ?? DEFAULT_ENDPOINT);
  const resource = resourceFromAttributes({
    [RESOURCE.serviceName]: serviceName,
    [RESOURCE.serviceVersion]: needs.release,
    [RESOURCE.serviceInstance]: needs.instance,
    [RESOURCE.processId]: process.pid,
    [RESOURCE.role]: needs.role,
  });
  const exporter = new OTLPTraceExporter({ url: endpoint, headers: { ...headers }, timeoutMillis: REQUEST_MS });
  let waiting = 0;
  const done = (fate: SpanFate, count: number): void => {
    waiting -= count;
    needs.onSpans?.(fate, count);
  };
  const batches = new BatchSpanProcessor({
    exporter: logOnce(exporter, endpoint, needs.log, done),
    maxQueueSize: 2 * MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: DELAY_MS,
    exportTimeoutMillis: 2 * REQUEST_MS,
  });
  /** Limits the queue before the SDK's own limit does, because the SDK drops spans without reporting it. */
  const bounded: SpanProcessor = {
    onStart: () => undefined,
    onEnd(span: ReadableSpan) {
      if (waiting >= MAX_WAITING) return needs.onSpans?.('dropped', 1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  const unregister = registerForTools({ processor: bounded, resource, samples: samplerOf(sampleRatio) });
  const origin = { resource, instrumentationScope: { name: SCOPE, version: needs.release } };
  return {
    add: (span) => bounded.onEnd(toReadableSpan(span, origin)),
    async close() {
      unregister();
      const ended = batches.shutdown().catch(() => undefined);
      let timer: NodeJS.Timeout | undefined;
      const longEnough = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
      await Promise.race([ended, longEnough]);
      clearTimeout(timer);
    },
  };
}

/** Logs one line when the collector stops taking spans, and one when it takes them again. */
function logOnce(
  exporter: SpanExporter,
  endpoint: string,
  log: Log,
  done: (fate: SpanFate, count: number) => void,
): SpanExporter {
  let isDown = false;
  let lost = 0;
  return {
    export(spans, callback) {
      exporter.export(spans, (result) => {
        done(result.code === 0 ? 'exported' : 'failed', spans.length);
        if (result.code === 0) {
          if (isDown) log.warn({ endpoint: shown(endpoint), lost }, 'the trace collector takes spans again');
          isDown = false;
          lost = 0;
        } else {
          lost += spans.length;
          const problem = result.error?.message || 'it did not answer as it should';
          if (!isDown) log.warn({ endpoint: shown(endpoint), problem }, 'the trace collector takes no spans');
          isDown = true;
        }
        callback(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Adds the default path if the endpoint is only a host, as other SDKs do. */
function withPath(endpoint: string): string {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return url.href;
}

/** The endpoint without its query, because some users put a key there. */
function shown(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint);
  return `${origin}${pathname}`;
}
