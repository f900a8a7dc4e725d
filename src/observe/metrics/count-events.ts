import type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../../domain/events/diagnostic-event.ts';
import type { EventError } from '../../domain/outcome/error-category.ts';
import { ERRORS } from '../../domain/errors/errors.ts';
import type { Stage } from '../../domain/call/stages.ts';
import { boundedLabel, OTHER } from './label-values.ts';
import type { Meter } from './meter.ts';

/** The event kinds that are counted. The event bus creates no events of other kinds for the counter. */
export const COUNTED_KINDS: readonly EventKind[] = [
  'call.accepted',
  'call.attached',
  'call.replayed',
  'call.refused',
  'call.admitted',
  'call.resumed',
  'call.identified',
  'call.parked',
  'call.abandoned',
  'call.lost',
  'call.left',
  'call.settled',
  'call.cancelled',
  'call.expired',
  'call.answered',
  'tool.blocked',
  'tool.started',
  'tool.completed',
  'tool.failed',
  'loop.warned',
  'loop.blocked',
  'hook.failed',
  'approval.requested',
  'approval.resolved',
];

export interface CountSettings {
  /** Max tools with their own label. */
  readonly tools: number;
  readonly pool: string;
  /**
   * Whether this process serves the tool. Other names share one label: an attacker who can write to the store could otherwise create any
   * number of labels.
   */
  readonly serves: (tool: string) => boolean;
}

interface Attempt {
  /** When the last stage ended. */
  endedAt: number;
  /** The `call.admitted` event, until it is counted. */
  admitted: DiagnosticEventOf<'call.admitted'> | undefined;
  /** The error from `tool.failed`; the one in `call.settled` has fewer details. */
  error?: EventError;
}

/** Max attempts and calls whose times are kept until they end. */
const MAX_OPEN = 20_000;
const MAX_NAMES = 50;

/** Counts diagnostic events. For each attempt it remembers when the last stage ended, because that is when the next stage began. */
export function createEventCounter(
  meter: Meter,
  { tools, pool, serves }: CountSettings,
): (event: DiagnosticEvent) => void {
  const toolLabel = boundedLabel(tools);
  const detectorLabel = boundedLabel(MAX_NAMES);
  const hookLabel = boundedLabel(MAX_NAMES);
  const attempts = new Map<string, Attempt>();
  const acceptedAfterMs = new Map<string, number>();
  const toolOf = ({ tool }: DiagnosticEvent): string => (tool !== undefined && serves(tool) ? toolLabel(tool) : OTHER);

  function stageTook(stage: Stage, durationMs: number): void {
    meter.observe('sallyport_stage_duration_seconds', { stage }, Math.max(0, durationMs) / 1000);
  }

  /** Measures a stage from the end of the previous one. */
  function stageEnded(stage: Stage, { attemptId, at }: DiagnosticEvent): void {
    if (attemptId === undefined) return;
    const attempt = attempts.get(attemptId);
    if (attempt === undefined) return;
    stageTook(stage, at - attempt.endedAt);
    attempt.endedAt = at;
  }

  function admitted(event: DiagnosticEventOf<'call.admitted'>): void {
    keep(attempts, event.attemptId!, { endedAt: event.at, admitted: event });
  }

  /**
   * Counts an admission when the attempt's next event arrives. That event shows whether the call was parked for an approval. If so, it did
   * not wait for a worker, and its waiting time is not counted.
   */
  function countAdmission({ kind, attemptId }: DiagnosticEvent): void {
    const attempt = attempts.get(attemptId!);
    if (attempt?.admitted === undefined) return;
    const { recovered, waitedMs } = attempt.admitted;
    attempt.admitted = undefined;
    if (kind === 'call.resumed') return held('resumed');
    held(recovered ? 'recovered' : 'first');
    if (!recovered) stageTook('admit', waitedMs);
  }

  function noteFailure({ attemptId, error }: DiagnosticEventOf<'tool.failed'>): void {
    const attempt = attempts.get(attemptId!);
    if (attempt !== undefined) attempt.error = error;
  }

  function shownError({ attemptId, error }: DiagnosticEventOf<'call.settled'>): EventError | undefined {
    const shown = attempts.get(attemptId!)?.error;
    return shown?.code === error?.code ? (shown ?? error) : error;
  }

  function gone({ attemptId }: DiagnosticEvent): void {
    if (attemptId !== undefined) attempts.delete(attemptId);
  }

  function failed(error: EventError | undefined, fallback: Stage): void {
    if (error === undefined) return;
    const { code = OTHER, category } = error;
    const stage = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].stage : fallback;
    meter.count('sallyport_call_errors_total', { stage, code, category });
  }

  const made = (event: DiagnosticEvent, result: string): void =>
    meter.count('sallyport_calls_made_total', { result, via: event.via ?? 'client' });
  const held = (how: string): void => meter.count('sallyport_calls_held_total', { how });
  const givenUp = (how: string): void => meter.count('sallyport_calls_given_up_total', { how });

  function countCaller(event: DiagnosticEvent): void {
    switch (event.kind) {
      case 'call.accepted':
      case 'call.attached':
        made(event, event.kind.slice(5));
        if (event.callId !== undefined) keep(acceptedAfterMs, event.callId, event.durationMs);
        return stageTook('accept', event.durationMs);
      case 'call.replayed':
        made(event, 'replayed');
        return stageTook('accept', event.durationMs);
      case 'call.refused':
        made(event, 'refused');
        failed(event.error, 'accept');
        return stageTook('accept', event.durationMs);
      case 'call.answered': {
        const sinceMs = acceptedAfterMs.get(event.callId ?? '') ?? 0;
        acceptedAfterMs.delete(event.callId ?? '');
        return stageTook('answer', event.durationMs - sinceMs);
      }
      case 'call.cancelled':
        return meter.count('sallyport_calls_cancelled_total', { answer: event.answer });
      case 'call.expired':
        return meter.count('sallyport_calls_expired_total', { overdue: String(event.overdue) });
      default:
        return countGate(event);
    }
  }

  function countWorker(event: DiagnosticEvent): void {
    if (event.kind === 'call.admitted') return admitted(event);
    countAdmission(event);
    switch (event.kind) {
      case 'call.identified':
        return stageEnded('identify', event);
      case 'call.refused':
        return stageEnded(event.stage ?? 'admit', event);
      case 'tool.started':
        return stageEnded('gate', event);
      case 'tool.blocked':
        meter.count('sallyport_calls_blocked_total', { by: event.by ?? OTHER });
        return stageEnded('gate', event);
      case 'tool.completed':
      case 'tool.failed':
        meter.observe('sallyport_tool_duration_seconds', { tool: toolOf(event) }, event.durationMs / 1000);
        if (event.kind === 'tool.failed') noteFailure(event);
        return stageEnded('execute', event);
      case 'call.settled':
        stageEnded('settle', event);
        failed(shownError(event), 'settle');
        meter.count('sallyport_calls_total', { outcome: event.outcome, tool: toolOf(event), pool });
        meter.observe('sallyport_call_duration_seconds', { outcome: event.outcome }, event.durationMs / 1000);
        return gone(event);
      case 'call.parked':
        stageEnded('gate', event);
        givenUp('parked');
        return gone(event);
      case 'call.abandoned':
      case 'call.lost':
      case 'call.left':
        givenUp(event.kind.slice(5));
        return gone(event);
      default:
        return countGate(event);
    }
  }

  function countGate(event: DiagnosticEvent): void {
    switch (event.kind) {
      case 'loop.warned':
      case 'loop.blocked':
        return meter.count('sallyport_loops_total', {
          detector: detectorLabel(event.detector),
          result: event.kind.slice(5),
        });
      case 'hook.failed':
        return meter.count('sallyport_hooks_failed_total', { hook: hookLabel(event.hook), how: event.how });
      case 'approval.requested':
        return meter.count('sallyport_approvals_asked_total', { severity: event.severity });
      case 'approval.resolved': {
        const { resolution, durationMs } = event;
        meter.count('sallyport_approvals_decided_total', { resolution });
        if (durationMs === undefined) return;
        return meter.observe('sallyport_approval_decision_seconds', { resolution }, durationMs / 1000);
      }
      case 'events.lost':
        return meter.count('sallyport_events_lost_total', {}, event.lost);
      default:
    }
  }

  return (event) => (event.attemptId === undefined ? countCaller(event) : countWorker(event));
}

function keep<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.set(id, value);
  if (map.size > MAX_OPEN) map.delete(map.keys().next().value ?? '');
}
