import { LIMITS } from '../domain/call/call.ts';
import { parseTrace, toTraceContext } from '../domain/call/trace-context.ts';
import type { CallerEmitter } from '../stages/accept/caller-emitter.ts';
import { startTrace } from '../domain/call/trace.ts';
import type { CallOptions } from './call-answer.ts';

interface SentTrace {
  readonly trace?: string | undefined;
  readonly traceState?: string | undefined;
}

const NONE: SentTrace = Object.freeze({});

/**
 * The trace sent with a call: the caller's trace unchanged or, while a listener wants spans, a child span of it. Most calls have no trace,
 * and then the short form of the envelope is used.
 */
export function sentTrace({ trace, traceState }: CallOptions, events: CallerEmitter | undefined): SentTrace {
  if (trace === undefined && events?.trace === undefined) return NONE;
  // Not a string, or too long: pass it through, so that it is rejected with the rest of the envelope.
  if (trace !== undefined && (typeof trace !== 'string' || trace.length > LIMITS.traceLength)) return { trace };
  const context = events?.trace ?? toTraceContext(parseTrace(trace, traceState) ?? startTrace());
  return { trace: context.traceparent, traceState: context.tracestate };
}
