import { elapsedMs } from '../../base/elapsed.ts';
import { errorOfOutcome, toEventError } from '../../domain/outcome/error-category.ts';
import type { CallId, RunId, SessionId, ToolId } from '../../domain/identity/ids.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type {
  CallVia,
  DiagnosticEventMap,
  EventKind,
  SharedFields,
  TraceIds,
} from '../../domain/events/diagnostic-event.ts';
import type { Stage } from '../../domain/call/stages.ts';
import { summariseValue } from '../../domain/events/summarise-value.ts';
import {
  isSampled,
  toTraceContext,
  type Trace,
  type TraceContext,
  parseTrace,
} from '../../domain/call/trace-context.ts';
import type { Events } from '../../domain/ports/events.ts';
import { childTrace, startTrace } from '../../domain/call/trace.ts';
import type { CallAcceptance } from './accept.ts';
import type { PreparedCall } from './prepare-call.ts';
import { LIMITS } from '../../domain/call/call.ts';

export interface CallerFacts {
  readonly session: SessionId;
  readonly run: RunId;
  /** Set only for a published tool: an unpublished name is not repeated in events. */
  readonly tool?: ToolId;
  readonly parent?: CallId;
  readonly via?: CallVia | undefined;
  readonly agent?: string;
  readonly tenant?: string;
}

/**
 * Emits the events of one call in the caller's process. The span made here represents the whole call: the spans of all stages are its
 * children. While no listener wants spans, none is made and the trace that the caller passed in is used unchanged.
 */
export class CallerEmitter {
  readonly trace: TraceContext | undefined;
  readonly #events: Events;
  readonly #shared: SharedFields;
  readonly #parent: { readonly parent?: CallId };
  readonly #madeAt = performance.now();
  #parameters = summariseValue(undefined);
  #deadlineMs = 0;
  #callId: CallId | undefined;

  constructor(events: Events, { parent, ...facts }: CallerFacts, caller: Trace | undefined) {
    this.#events = events;
    const trace = events.spans ? spanBelow(caller, events) : caller;
    this.trace = trace && toTraceContext(trace);
    this.#shared = trace === undefined ? facts : { ...facts, trace: idsOf(trace, caller) };
    this.#parent = parent === undefined ? {} : { parent };
  }

  prepared(call: Extract<PreparedCall, { kind: 'prepared' }>, args: unknown): void {
    this.#parameters = summariseValue(args, call.canonical);
    this.#deadlineMs = call.request.deadlineMs;
  }

  answered(acceptance: CallAcceptance): void {
    if (acceptance.kind === 'refused') return this.#refused(acceptance.outcome);
    this.#callId = acceptance.callId;
    const timed = { ...this.#parent, durationMs: elapsedMs(this.#madeAt) };
    const parameters = this.#parameters;
    if (acceptance.kind === 'replayed') this.#emit('call.replayed', { ...endedAs(acceptance.outcome), ...timed });
    else if (acceptance.attached) this.#emit('call.attached', { parameters, ...timed });
    else this.#emit('call.accepted', { parameters, deadlineMs: this.#deadlineMs, ...timed });
  }

  replied(outcome: Outcome): void {
    this.#emit('call.answered', { ...endedAs(outcome), durationMs: elapsedMs(this.#madeAt) }, 'answer');
  }

  /** Emits that the caller's wait ended; the call continues. */
  leftPending(): void {
    this.#emit('call.pending', { durationMs: elapsedMs(this.#madeAt) }, 'answer');
  }

  #refused(outcome: Outcome): void {
    const error = errorOfOutcome(outcome) ?? toEventError('internal');
    this.#emit('call.refused', { ...endedAs(outcome), error, durationMs: elapsedMs(this.#madeAt) });
  }

  #emit<Kind extends EventKind>(kind: Kind, facts: DiagnosticEventMap[Kind], stage: Stage = 'accept'): void {
    if (!this.#events.wants(kind)) return;
    const call = this.#callId === undefined ? {} : { callId: this.#callId };
    this.#events.emit(kind, { ...facts, ...call, stage }, this.#shared);
  }
}

function spanBelow(caller: Trace | undefined, events: Events): Trace {
  return caller === undefined ? startTrace((traceId) => events.samples(traceId)) : childTrace(caller);
}

function idsOf(trace: Trace, caller: Trace | undefined): TraceIds {
  const { traceId, spanId } = trace;
  const above = caller === undefined || caller === trace ? {} : { parentSpanId: caller.spanId };
  return { traceId, spanId, ...above, sampled: isSampled(trace) };
}

function endedAs(outcome: Outcome) {
  const error = errorOfOutcome(outcome);
  return { outcome: outcome.kind, executed: outcome.executed, ...(error === undefined ? {} : { error }) };
}

export interface SentTrace {
  readonly trace?: string | undefined;
  readonly traceState?: string | undefined;
}

const NONE: SentTrace = Object.freeze({});

/**
 * The trace sent with a call: the caller's trace unchanged or, while a listener wants spans, a child span of it. Most calls have no trace;
 * the fields are then absent, so that the short form of the envelope can be used.
 */
export function sentTrace({ trace, traceState }: SentTrace, events: CallerEmitter | undefined): SentTrace {
  if (trace === undefined && events?.trace === undefined) return NONE;
  // A trace that is not a string or is too long is passed on, so that the check of the envelope rejects the call.
  if (trace !== undefined && (typeof trace !== 'string' || trace.length > LIMITS.traceLength)) return { trace };
  const context = events?.trace ?? toTraceContext(parseTrace(trace, traceState) ?? startTrace());
  return { trace: context.traceparent, traceState: context.tracestate };
}
