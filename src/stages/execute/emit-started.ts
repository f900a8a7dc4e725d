import { faultOfStatus, statusOf } from '../../domain/outcome/classify-thrown.ts';
import { elapsedMs } from '../../base/elapsed.ts';
import { errorOfOutcome, toEventError, type Fault } from '../../domain/outcome/error-category.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { summariseValue } from '../../domain/events/summarise-value.ts';
import type { CallEmitter } from '../../domain/ports/events.ts';
import type { ServedTool } from '../../domain/ports/plane.ts';
import type { RunEnding } from '../../domain/ports/tool-runner.ts';

interface StartingCall {
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
  readonly canonical: string;
}

/** Emits that the tool starts, and returns the function that emits how it ended. Call that function exactly once. */
export function emitStarted(call: StartingCall, events: CallEmitter): (ending: RunEnding, outcome: Outcome) => void {
  const { runner, declaration } = call.tool;
  const parameters = summariseValue(call.arguments, call.canonical);
  events.emit('tool.started', { parameters, runner, effect: declaration.effect });
  const startedAt = performance.now();
  return (ending, outcome) => {
    const durationMs = elapsedMs(startedAt);
    const { kind, executed } = outcome;
    if (kind === 'ok') return events.emit('tool.completed', { durationMs });
    const error = errorOfOutcome(outcome, faultOf(ending, outcome)) ?? toEventError('internal');
    events.emit('tool.failed', { outcome: kind, executed, error, durationMs });
  };
}

/** Finds the kind of fault behind a failure. The runner has read it from a thrown error; in a returned result the HTTP status shows it. */
function faultOf(ending: RunEnding, { error }: Outcome): Fault | undefined {
  if (ending.kind === 'threw' || ending.kind === 'refused') return ending.fault;
  const isReported = error?.code === 'TOOL_FAILED' || error?.code === 'TOOL_DENIED';
  if (!isReported || ending.kind !== 'returned' || !isJsonObject(ending.result.value)) return undefined;
  return faultOfStatus(statusOf(ending.result.value));
}
