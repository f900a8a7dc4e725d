import { errorOfThrown } from '../domain/outcome/classify-thrown.ts';
import type { HookFailed } from '../domain/policy/hook.ts';
import type { CallId, ToolId } from '../domain/identity/ids.ts';
import type { Events } from '../domain/ports/events.ts';

/** Emits `hook.failed` with the tool and the call. The thrown value is reported only by its category. */
export function emitHookFailures(events: Events): (failed: HookFailed, cause: unknown) => void {
  return ({ hook, on, how, durationMs, tool, callId }, cause) => {
    if (!events.wants('hook.failed')) return;
    const shared = { tool: tool as ToolId, callId: callId as CallId };
    const stage = on === 'tool_result' ? 'execute' : 'gate';
    events.emit('hook.failed', { hook, how, durationMs, error: errorOfThrown(cause), stage }, shared);
  };
}
