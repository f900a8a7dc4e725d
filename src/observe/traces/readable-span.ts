import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Attributes as DraftAttributes, SpanDraft } from './span-draft.ts';

const KINDS = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: InstrumentationScope;
}

/**
 * Converts a draft to a span of the SDK. It keeps the ids that were already sent along with the call; the SDK's own tracers would make new
 * ones.
 */
export function toReadableSpan(draft: SpanDraft, origin: SpanOrigin): ReadableSpan {
  const { name, kind, traceId, spanId, parentSpanId, startMs, endMs, notes } = draft;
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => context,
    ...(parentSpanId === undefined ? {} : { parentSpanContext: { ...context, spanId: parentSpanId } }),
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(Math.max(0, endMs - startMs)),
    status: { code: draft.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: present(draft.attributes),
    links: [],
    events: notes.map((note) => ({
      name: note.name,
      time: toHrTime(note.atMs),
      attributes: present(note.attributes),
      droppedAttributesCount: 0,
    })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    ...origin,
  };
}

function toHrTime(ms: number): HrTime {
  const micros = Math.round(ms * 1000);
  return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
}

function present(attributes: DraftAttributes): Attributes {
  const found: Attributes = {};
  for (const name of Object.keys(attributes)) {
    const value = attributes[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
