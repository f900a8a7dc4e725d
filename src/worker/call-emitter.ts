import { attemptIdOf } from '../domain/call/attempt-id.ts';
import { errorOfThrown } from '../domain/outcome/classify-thrown.ts';
import type { DiagnosticEventMap, EventKind, SharedFields, TraceIds } from '../domain/events/diagnostic-event.ts';
import { elapsedMs } from '../base/elapsed.ts';
import { isEnding, type Ending } from '../domain/call/ending.ts';
import { errorOfOutcome, toEventError } from '../domain/outcome/error-category.ts';
import { DIAGNOSTIC_EVENTS } from '../domain/events/event-table.ts';
import { splitToolId } from '../domain/identity/ids.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { Identity } from '../domain/identity/session.ts';
import type { Stage } from '../domain/call/stages.ts';
import { isSampled, parseTrace, toTraceContext, type Trace, type TraceContext } from '../domain/call/trace-context.ts';
import type { Delivery, LaneState } from '../domain/ports/call-requests.ts';
import type { CallEmitter, Events } from '../domain/ports/events.ts';
import { parseIdentity } from '../stages/identify/parse-identity.ts';
import { decodeEnvelope } from '../domain/call/envelope.ts';
import { newSpanId, traceOfCall } from '../domain/call/trace.ts';

/** Undefined while there are no listeners: then a call costs only this check. */
export function emitterOf(
  events: Events,
  delivery: Delivery,
  lane: LaneState,
  arrivedAt: number,
): CallEmitter | undefined {
  return events.listening ? new DeliveryEmitter(events, delivery, lane, arrivedAt) : undefined;
}

/** Emits the events of one call, from its delivery to this worker until it ends here. */
class DeliveryEmitter implements CallEmitter {
  readonly #events: Events;
  readonly #delivery: Delivery;
  readonly #waitedMs: number;
  readonly #arrivedAt: number;
  readonly #spans: Partial<Record<Stage, string>> = {};
  /** The fields that all events of this call share. `stage` and `trace` are those of the event emitted last. */
  #shared: Changing | undefined;
  #trace: Trace | undefined;
  #isOwnTrace = false;
  /** The event `tool.started` or `tool.blocked` was emitted. Only a call without either gets another event about its end. */
  #isToolEventEmitted = false;
  #isOver = false;

  constructor(events: Events, delivery: Delivery, lane: LaneState, arrivedAt: number) {
    this.#events = events;
    this.#delivery = delivery;
    this.#arrivedAt = arrivedAt;
    this.#waitedMs = Math.max(0, lane.now - delivery.acceptedAt);
  }

  wants(kind: EventKind): boolean {
    return this.#events.wants(kind);
  }

  emit<Kind extends EventKind>(
    kind: Kind,
    facts: DiagnosticEventMap[Kind],
    stage: Stage | undefined = DIAGNOSTIC_EVENTS[kind].stage,
  ): void {
    if (kind === 'tool.started' || kind === 'tool.blocked') this.#isToolEventEmitted = true;
    if (!this.#events.wants(kind)) return;
    this.#events.emit(kind, facts, this.#sharedAt(stage ?? 'admit'));
  }

  passed(stage: Stage, result: { readonly kind: string }): void {
    if (this.#isOver) return;
    if (isEnding(result)) return this.#ended(stage, result);
    const { fence, recovered, resumedWith } = this.#delivery;
    if (stage === 'admit') {
      this.emit('call.admitted', { fence, recovered: recovered !== undefined, waitedMs: this.#waitedMs });
      if (resumedWith !== undefined) this.emit('call.resumed', { fence });
    } else if (stage === 'identify') this.emit('call.identified', { durationMs: elapsedMs(this.#arrivedAt) });
  }

  #ended(stage: Stage, ending: Ending): void {
    this.#isOver = true;
    const durationMs = elapsedMs(this.#arrivedAt);
    switch (ending.kind) {
      // The gate stage already emitted `call.parked`, with the id of the question.
      case 'parked':
        return;
      case 'lost':
        return this.emit('call.lost', { durationMs }, stage);
      case 'handed-back':
        return this.emit('call.abandoned', { durationMs }, stage);
      case 'ended': {
        if (this.#isToolEventEmitted) return;
        const { kind: outcome, executed } = ending.outcome;
        const error = errorOfOutcome(ending.outcome) ?? toEventError('internal');
        if (stage === 'gate') return this.emit('tool.blocked', { outcome, executed, error });
        return this.emit('call.refused', { outcome, executed, error, durationMs }, stage);
      }
    }
  }

  settled(answer: string, { kind: outcome, executed, ...rest }: Outcome): void {
    const durationMs = elapsedMs(this.#arrivedAt);
    if (answer !== 'settled') return this.emit('call.lost', { durationMs }, 'settle');
    const error = errorOfOutcome({ kind: outcome, executed, ...rest });
    this.emit('call.settled', { outcome, executed, durationMs, ...(error === undefined ? {} : { error }) });
  }

  left(error: unknown): void {
    this.emit('call.left', { error: errorOfThrown(error) });
  }

  traceOf(stage: Stage): TraceContext | undefined {
    if (!this.#events.spans) return undefined;
    return toTraceContext({ ...this.#callTrace(), spanId: this.#spanOf(stage) });
  }

  /** Returns one object that is reused and changed for each event: `Events.emit` copies its fields. */
  #sharedAt(stage: Stage): SharedFields {
    const shared = (this.#shared ??= sharedOf(this.#delivery));
    if (shared.stage !== stage) {
      shared.stage = stage;
      if (this.#events.spans) shared.trace = this.#idsOf(stage);
    }
    return shared;
  }

  #idsOf(stage: Stage): TraceIds {
    const trace = this.#callTrace();
    const { traceId, spanId: parentSpanId } = trace;
    const ids = { traceId, spanId: this.#spanOf(stage), parentSpanId, sampled: isSampled(trace) };
    return this.#isOwnTrace ? { ...ids, begins: true } : ids;
  }

  #spanOf(stage: Stage): string {
    return (this.#spans[stage] ??= newSpanId());
  }

  /** The caller's trace, or a new one whose first span represents the whole call. */
  #callTrace(): Trace {
    return (this.#trace ??= traceIn(this.#delivery) ?? this.#beginTrace());
  }

  #beginTrace(): Trace {
    this.#isOwnTrace = true;
    return traceOfCall(this.#delivery.callId, (traceId) => this.#events.samples(traceId));
  }
}

function traceIn({ envelope }: Delivery): Trace | undefined {
  const decoded = envelope.length === 0 ? undefined : decodeEnvelope(envelope);
  return decoded?.kind === 'envelope' ? parseTrace(decoded.envelope.trace, decoded.envelope.traceState) : undefined;
}

type Changing = { -readonly [Field in keyof SharedFields]: SharedFields[Field] };

function sharedOf(delivery: Delivery): Changing {
  const { callId, tool, session, run } = delivery;
  const identity = identityOf(delivery);
  const shared: Changing = { callId, attemptId: attemptIdOf(delivery), session, run };
  // A client that can write to the store can write any text as the tool, so only a valid id is used.
  if (splitToolId(tool) !== undefined) shared.tool = tool;
  if (identity !== undefined) {
    shared.agent = identity.agent;
    shared.tenant = identity.tenant;
  }
  return shared;
}

function identityOf({ identity }: Delivery): Identity | undefined {
  try {
    return parseIdentity(identity);
  } catch {
    return undefined;
  }
}
