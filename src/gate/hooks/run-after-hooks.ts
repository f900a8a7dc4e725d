import type { AfterToolCall } from '../../domain/policy/hook.ts';
import type { EndedCall } from '../../domain/ports/gate-hooks.ts';
import type { HookSet } from './hook-set.ts';
import { observeOutcome } from './observe-outcome.ts';
import type { ObserverQueue } from './observer-queue.ts';

/**
 * Sends the call's ending to the observers of its tool and returns at once: nothing they do changes or delays the outcome. The settling
 * code calls this once per call; the event contains the call's id.
 */
export function runAfterHooks(set: HookSet, ended: EndedCall, queue: ObserverQueue): void {
  const hooks = set.matching('after_tool_call', ended.tool);
  if (hooks.length === 0) return;
  const { tool, callId, outcome, durationMs, changedBy } = ended;
  const { session, run, identity, parent, trace, untrusted } = ended;
  const event: AfterToolCall = {
    callId,
    session,
    run,
    identity,
    ...(parent === undefined ? {} : { parent }),
    ...(trace === undefined ? {} : { trace }),
    ...(untrusted === undefined ? {} : { untrusted }),
    tool: tool.id,
    effect: tool.effect,
    privileged: tool.privileged,
    arguments: ended.arguments,
    changedBy,
    outcome: observeOutcome(outcome),
    durationMs: Math.round(durationMs * 1000) / 1000,
  };
  const observation = { tool: tool.id, callId, event: JSON.stringify(event) };
  for (const hook of hooks) queue.submit(hook, observation);
}
