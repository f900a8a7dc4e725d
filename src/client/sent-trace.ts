import { LIMITS } from '../domain/call.ts';
import { parseTrace, toTraceContext } from '../domain/trace-context.ts';
import type { CallerEmitter } from '../stages/call/caller-emitter.ts';
import { startTrace } from '../wire/trace.ts';
import type { CallOptions } from './call-answer.ts';

interface SentTrace {
  readonly trace?: string | undefined;
  readonly traceState?: string | undefined;
}

const NONE: SentTrace = Object.freeze({});

/**
 * The trace that travels with a call: the caller's as it is, or, while somebody wants spans, one below it. Most calls have none, and then
 * the envelope stays the short one.
 */
export function sentTrace({ trace, traceState }: CallOptions, events: CallerEmitter | undefined): SentTrace {
  if (trace === undefined && events?.trace === undefined) return NONE;
  // Not even a text, or far too long: refused with the rest of the envelope.
  if (trace !== undefined && (typeof trace !== 'string' || trace.length > LIMITS.traceLength)) return { trace };
  const context = events?.trace ?? toTraceContext(parseTrace(trace, traceState) ?? startTrace());
  return { trace: context.traceparent, traceState: context.tracestate };
}
