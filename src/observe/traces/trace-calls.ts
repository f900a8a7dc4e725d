import type { DiagnosticEvent, DiagnosticEventOf } from '../../domain/events/diagnostic-event.ts';
import { ATTRIBUTE } from './conventions.ts';
import { attributesOfCall, attributesOfEnd, attributesOfStage, bytesOf } from './describe-event.ts';
import { newSpanId } from './new-span-id.ts';
import type { Attributes, SpanDraft } from './span-draft.ts';
import { AttemptTrace } from './trace-attempt.ts';

type Accepted = DiagnosticEventOf<'call.accepted' | 'call.attached'>;

/**
 * Max calls and attempts that are traced at once. Beyond this the oldest is evicted. For an evicted call its span is emitted with the facts
 * known so far; for an evicted attempt no more spans are emitted.
 */
const MAX_OPEN = 20_000;

export interface CallTracer {
  receive(event: DiagnosticEvent): void;
  /** Emits the spans of accepted calls whose end was not observed, with the facts known so far. */
  close(): void;
}

/** Makes spans from diagnostic events: one per stage, below one for the whole call. Traces that are not sampled are ignored. */
export function createCallTracer(emitSpan: (span: SpanDraft) => void, maxOpen = MAX_OPEN): CallTracer {
  const attempts = new Map<string, AttemptTrace>();
  /** Accepted calls that have no answer yet, by the span id of the call. */
  const waiting = new Map<string, Accepted>();

  function receiveFromWorker(attemptId: string, event: DiagnosticEvent): void {
    let attempt = attempts.get(attemptId);
    if (attempt === undefined) {
      attempt = new AttemptTrace(event, emitSpan);
      attempts.set(attemptId, attempt);
      if (attempts.size > maxOpen) attempts.delete(oldestOf(attempts));
    }
    if (attempt.receive(event)) attempts.delete(attemptId);
  }

  function receiveFromCaller(event: DiagnosticEvent): void {
    switch (event.kind) {
      case 'call.accepted':
      case 'call.attached':
        waiting.set(event.trace!.spanId, event);
        if (waiting.size > maxOpen) forget(oldestOf(waiting));
        return;
      case 'call.replayed':
      case 'call.refused':
        return endCallSpan(event, event.at - event.durationMs, resultOf(event));
      case 'call.answered':
      case 'call.pending': {
        const accepted = waiting.get(event.trace!.spanId);
        waiting.delete(event.trace!.spanId);
        const madeMs = event.at - event.durationMs;
        endAnswerSpan(event, accepted === undefined ? madeMs : madeMs + accepted.durationMs);
        return endCallSpan(event, madeMs, resultOf(accepted ?? event), accepted);
      }
      default:
    }
  }

  function forget(spanId: string): void {
    const accepted = waiting.get(spanId);
    waiting.delete(spanId);
    if (accepted !== undefined) endCallSpan(accepted, accepted.at - accepted.durationMs, resultOf(accepted), accepted);
  }

  function endCallSpan(event: DiagnosticEvent, startMs: number, result: string, accepted?: Accepted): void {
    const { traceId, spanId, parentSpanId } = event.trace!;
    const parent = accepted?.parent ?? ('parent' in event ? event.parent : undefined);
    emitSpan({
      name: 'call',
      kind: event.via === undefined ? 'client' : 'server',
      traceId,
      spanId,
      parentSpanId,
      startMs,
      endMs: event.at,
      attributes: {
        ...attributesOfStage('accept', event),
        ...attributesOfCall(event),
        [ATTRIBUTE.result]: result,
        [ATTRIBUTE.parentCallId]: parent,
        [ATTRIBUTE.argumentBytes]: bytesOf(accepted?.parameters),
        ...endOf(event),
      },
      failed: isFailed(event),
      notes: [],
    });
  }

  /** Emits the `answer` span: the time that the caller waited after the call was accepted. */
  function endAnswerSpan(event: DiagnosticEvent, startMs: number): void {
    const { traceId, spanId: parentSpanId } = event.trace!;
    emitSpan({
      name: 'answer',
      kind: 'internal',
      traceId,
      spanId: newSpanId(),
      parentSpanId,
      startMs: Math.min(startMs, event.at),
      endMs: event.at,
      attributes: { ...attributesOfStage('answer', event), ...endOf(event) },
      failed: false,
      notes: [],
    });
  }

  return {
    receive(event) {
      if (event.trace?.sampled !== true) return;
      if (event.attemptId === undefined) receiveFromCaller(event);
      else receiveFromWorker(event.attemptId, event);
    },
    close() {
      for (const spanId of waiting.keys()) forget(spanId);
      attempts.clear();
    },
  };
}

const oldestOf = (map: ReadonlyMap<string, unknown>): string => map.keys().next().value ?? '';
/** The end of a submission: `accepted`, `attached`, `replayed` or `refused`; `answered` or `pending` if the acceptance was not observed. */
const resultOf = ({ kind }: DiagnosticEvent): string => kind.slice('call.'.length);
const isFailed = (event: DiagnosticEvent): boolean => 'error' in event && event.error !== undefined;

function endOf(event: DiagnosticEvent): Attributes {
  if (event.kind === 'call.pending') return { [ATTRIBUTE.outcome]: 'pending' };
  return 'outcome' in event ? attributesOfEnd(event) : {};
}
