/** Where spans go, and of which traces. */
export interface TraceOptions {
  /** OTLP over HTTP, JSON. */
  readonly endpoint?: string;
  /** Sent with every request, for collectors that want to know who writes. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the traces that begin here, 0 to 1. One that a caller brought is kept if the caller keeps it. */
  readonly sampleRatio?: number;
  readonly serviceName?: string;
}

export const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318/v1/traces';
export const DEFAULT_SERVICE_NAME = 'sallyport';

const DIGITS = 13;
const ALL = 16 ** DIGITS;

/** The last digits of a trace id are random: every process decides the same about the same trace. */
export function samplerOf(ratio: number): (traceId: string) => boolean {
  if (ratio >= 1) return () => true;
  return (traceId) => Number.parseInt(traceId.slice(-DIGITS), 16) < ratio * ALL;
}
