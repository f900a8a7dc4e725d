import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './process.ts';

type Value = string | number | boolean;

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly notes: readonly string[];
  readonly resource: Readonly<Record<string, Value>>;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly boolValue?: boolean };
}
interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly OtlpAttribute[];
  readonly events?: readonly { readonly name: string }[];
}
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A real, minimal OTLP/HTTP collector that keeps what it was sent. */
export interface OtlpCollector {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[];
  /** Answers the requests to come; by default they are accepted. */
  answer: (response: ServerResponse) => void;
  spansOf(traceId: string): CollectedSpan[];
  /** Waits until a trace has `count` spans; resolves with them in the order of their start times. */
  until(traceId: string, count: number): Promise<CollectedSpan[]>;
  stop(): Promise<void>;
  /** Starts the collector again on the same port. */
  restart(): Promise<void>;
}

export async function startCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  let server: Server | undefined;
  let port = 0;
  const collector: OtlpCollector = {
    get endpoint() {
      return `http://127.0.0.1:${port}/v1/traces`;
    },
    spans,
    requests,
    answer: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    spansOf: (traceId) => spans.filter((span) => span.traceId === traceId).sort(byStart),
    until: (traceId, count) =>
      eventually(() => (collector.spansOf(traceId).length >= count ? collector.spansOf(traceId) : undefined), {
        what: `${count} spans of ${traceId}`,
      }),
    async stop() {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      await new Promise<void>((resolve) => {
        closing.close(() => resolve());
        closing.closeAllConnections();
      });
    },
    async restart() {
      server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          requests.push({ path: request.url!, headers: request.headers, text });
          spans.push(...readSpans(JSON.parse(text) as OtlpBody));
          collector.answer(response);
        });
      });
      await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve));
      ({ port } = server.address() as AddressInfo);
    },
  };
  await collector.restart();
  return collector;
}

function byStart(one: CollectedSpan, other: CollectedSpan): number {
  return Number(one.startNs - other.startNs);
}

function readSpans({ resourceSpans }: OtlpBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId === '' ? undefined : span.parentSpanId,
        kind: span.kind,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        failed: span.status?.code === 2,
        attributes: readAttributes(span.attributes),
        notes: (span.events ?? []).map(({ name }) => name),
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

function readAttributes(attributes: readonly OtlpAttribute[]): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]),
  );
}
