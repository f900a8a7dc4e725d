export type AttributeValue = string | number | boolean;
/** Attributes without a value are left out when the span is made. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** Something that happened within a span. */
export interface SpanNote {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

/** A span that has ended, as plain data that needs no SDK. Times are milliseconds since 1970, precise to the microsecond. */
export interface SpanDraft {
  readonly name: string;
  readonly kind: 'internal' | 'client' | 'server' | 'consumer';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly failed: boolean;
  readonly notes: readonly SpanNote[];
}
