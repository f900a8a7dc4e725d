import type { DiagnosticEvent, DiagnosticEventOf, TraceIds } from '../../domain/events/diagnostic-event.ts';
import type { EventError } from '../../domain/outcome/error-category.ts';
import { STAGES, type Stage } from '../../domain/call/stages.ts';
import { ATTRIBUTE, EXECUTE_TOOL, FUNCTION } from './conventions.ts';
import { attributesOfCall, attributesOfEnd, attributesOfStage, bytesOf, noteOf } from './describe-event.ts';
import { newSpanId } from './new-span-id.ts';
import type { Attributes, SpanDraft, SpanNote } from './span-draft.ts';

interface StageEnd {
  readonly name?: string;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
  readonly startMs?: number;
}

/**
 * The spans of one attempt, that is, of one worker's hold of a call. A stage begins where the previous one ended, and its span is emitted
 * when it ends. If the process dies, only the span of the current stage is lost.
 */
export class AttemptTrace {
  readonly #emitSpan: (span: SpanDraft) => void;
  readonly #acceptedMs: number;
  /** When the current stage began. */
  #cursorMs: number;
  /** The admission whose span is not emitted yet. Only the next event shows whether the call was parked for an approval. */
  #admitted: DiagnosticEventOf<'call.admitted'> | undefined;
  #isResumed = false;
  #started: DiagnosticEventOf<'tool.started'> | undefined;
  #notes: SpanNote[] = [];
  /** The span id of each stage, from its events. Calls that the stage made have that id as their parent. */
  readonly #spans = new Map<Stage, string>();
  readonly #emitted = new Set<Stage>();

  constructor(first: DiagnosticEvent, emitSpan: (span: SpanDraft) => void) {
    this.#emitSpan = emitSpan;
    const heldMs = 'durationMs' in first ? (first.durationMs ?? 0) : 0;
    this.#cursorMs = first.at - heldMs;
    this.#acceptedMs = first.kind === 'call.admitted' ? first.at - first.waitedMs : this.#cursorMs;
  }

  /** Reads an event. Returns true after the last event of the attempt. */
  receive(event: DiagnosticEvent): boolean {
    if (event.stage !== undefined && event.trace !== undefined) this.#spans.set(event.stage, event.trace.spanId);
    if (event.kind === 'call.resumed') this.#isResumed = true;
    this.#endAdmitSpan();
    const note = noteOf(event);
    if (note !== undefined) this.#notes.push(note);
    switch (event.kind) {
      case 'call.admitted':
        this.#admitted = event;
        return false;
      case 'call.identified':
        this.#end('identify', event);
        return false;
      case 'tool.blocked': {
        const who = { [ATTRIBUTE.blockedBy]: event.by, [ATTRIBUTE.blockedById]: event.byId };
        this.#end('gate', event, { attributes: { ...attributesOfEnd(event), ...who }, failed: true });
        return false;
      }
      case 'tool.started':
        this.#end('gate', event);
        this.#started = event;
        return false;
      case 'tool.completed':
        this.#endTool(event, { outcome: 'ok', executed: 'yes' });
        return false;
      case 'tool.failed':
        this.#endTool(event, event);
        return false;
      case 'call.refused':
        this.#end(event.stage ?? 'admit', event, { attributes: attributesOfEnd(event), failed: true });
        return false;
      default:
        return this.#receiveLast(event);
    }
  }

  #receiveLast(event: DiagnosticEvent): boolean {
    switch (event.kind) {
      case 'call.parked': {
        const attributes = { [ATTRIBUTE.result]: 'parked', [ATTRIBUTE.approvalId]: event.approvalId };
        this.#end('gate', event, { attributes });
        return true;
      }
      case 'call.abandoned':
      case 'call.lost':
        this.#end(event.stage ?? 'execute', event, { attributes: { [ATTRIBUTE.result]: event.kind.slice(5) } });
        return true;
      case 'call.left':
        this.#end(this.#underWay(), event, { attributes: attributesOfEnd(event), failed: true });
        return true;
      case 'call.settled':
        this.#end('settle', event, { attributes: attributesOfEnd(event) });
        if (event.trace?.begins === true) this.#endCallSpan(event, event.trace);
        return true;
      default:
        return false;
    }
  }

  #underWay(): Stage {
    return STAGES.find((stage) => stage !== 'accept' && !this.#emitted.has(stage)) ?? 'settle';
  }

  /**
   * Emits the `admit` span. For the first attempt it starts when the call was accepted. For a call that was recovered or parked it is not
   * known how long the call waited this time.
   */
  #endAdmitSpan(): void {
    const event = this.#admitted;
    if (event === undefined) return;
    this.#admitted = undefined;
    const isFirst = !event.recovered && !this.#isResumed;
    this.#end('admit', event, {
      startMs: isFirst ? event.at - event.waitedMs : this.#cursorMs,
      attributes: { [ATTRIBUTE.recovered]: event.recovered, [ATTRIBUTE.resumed]: this.#isResumed },
    });
  }

  #endTool(
    event: DiagnosticEvent,
    end: { readonly outcome?: string; readonly executed?: string; readonly error?: EventError },
  ): void {
    const { runner, effect, parameters } = this.#started ?? {};
    this.#end('execute', event, {
      name: event.tool === undefined ? EXECUTE_TOOL : `${EXECUTE_TOOL} ${event.tool}`,
      failed: end.error !== undefined,
      attributes: {
        [ATTRIBUTE.operation]: EXECUTE_TOOL,
        [ATTRIBUTE.toolType]: FUNCTION,
        [ATTRIBUTE.toolCallId]: event.callId,
        [ATTRIBUTE.runner]: runner,
        [ATTRIBUTE.effect]: effect,
        [ATTRIBUTE.argumentBytes]: bytesOf(parameters),
        ...attributesOfEnd(end),
      },
    });
  }

  #end(stage: Stage, event: DiagnosticEvent, { name, attributes, failed = false, startMs }: StageEnd = {}): void {
    const { trace, at } = event;
    const begunMs = startMs ?? this.#cursorMs;
    this.#cursorMs = at;
    if (trace === undefined || this.#emitted.has(stage)) return;
    this.#emitted.add(stage);
    this.#emitSpan({
      name: name ?? stage,
      kind: stage === 'admit' ? 'consumer' : 'internal',
      traceId: trace.traceId,
      spanId: this.#spans.get(stage) ?? newSpanId(),
      parentSpanId: trace.parentSpanId,
      startMs: Math.min(begunMs, at),
      endMs: at,
      attributes: {
        ...attributesOfStage(stage, event),
        ...(stage === 'admit' || stage === 'execute' ? attributesOfCall(event) : undefined),
        ...attributes,
      },
      failed,
      notes: stage === 'gate' ? this.#notes.splice(0) : [],
    });
  }

  /** Emits the span of the whole call. It is emitted here because the caller sent no trace, so no other process emits it. */
  #endCallSpan(event: DiagnosticEventOf<'call.settled'>, { traceId, parentSpanId }: TraceIds): void {
    if (parentSpanId === undefined) return;
    this.#emitSpan({
      name: 'call',
      kind: 'internal',
      traceId,
      spanId: parentSpanId,
      parentSpanId: undefined,
      startMs: this.#acceptedMs,
      endMs: event.at,
      attributes: { ...attributesOfStage('accept', event), ...attributesOfCall(event), ...attributesOfEnd(event) },
      failed: event.error !== undefined,
      notes: [],
    });
  }
}
