/** Where spans are sent, and which traces are kept. */
export interface TraceOptions {
  /** Address of the collector: OTLP over HTTP, JSON. */
  readonly endpoint?: string;
  /** Sent with every request, for collectors that authenticate the sender. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Share of the new traces that are kept, 0 to 1. If the caller sent a trace, it is kept if the caller keeps it. */
  readonly sampleRatio?: number;
  readonly serviceName?: string;
}

export const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318/v1/traces';
export const DEFAULT_SERVICE_NAME = 'sallyport';

const DIGITS = 13;
const ALL = 16 ** DIGITS;

/** Decides by the last digits of the trace id, which are random: all processes that see a trace have its id, so they decide alike. */
export function samplerOf(ratio: number): (traceId: string) => boolean {
  if (ratio >= 1) return () => true;
  return (traceId) => Number.parseInt(traceId.slice(-DIGITS), 16) < ratio * ALL;
}
