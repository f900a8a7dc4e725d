import { deepFreeze } from '../../base/deep-freeze.ts';
import type { JsonObject } from '../../base/json.ts';
import type { AfterToolCall, ApprovalResolved, HookedTool } from '../../domain/policy/hook.ts';
import type { EndedCall } from '../../domain/ports/gate-hooks.ts';
import { callHook, reportFailure, type HookReporting } from './call-hook.ts';
import type { HookSet } from './hook-set.ts';
import { observeOutcome } from './observe-outcome.ts';
import type { ObserverQueue } from './observer-queue.ts';
import type { RegisteredHook } from './registered-hook.ts';

/**
 * Queues an event about the ended call for the observers of its tool and returns at once: nothing they do changes or delays the outcome.
 * The code that settles the call runs this once per call. The event contains the call's id.
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

/**
 * Passes the resolution of a question to the hooks of its tool. Resolves when all hooks have answered or timed out, and never rejects. No
 * call waits for it. On a plane, only the process that claimed the callback in the store runs it, so hooks get each resolution once.
 */
export async function runResolvedHooks(
  set: HookSet,
  tool: HookedTool,
  approval: ApprovalResolved,
  needs: HookReporting,
): Promise<void> {
  const hooks = set.matching('approval_resolved', tool);
  if (hooks.length === 0) return;
  const text = JSON.stringify(approval);
  await Promise.all(hooks.map((hook) => runResolvedHook(hook, text, approval, needs)));
}

async function runResolvedHook(
  hook: RegisteredHook,
  text: string,
  { tool, callId }: ApprovalResolved,
  needs: HookReporting,
): Promise<void> {
  const startedAt = performance.now();
  const ending = await callHook(hook, deepFreeze(JSON.parse(text) as JsonObject), undefined);
  const durationMs = performance.now() - startedAt;
  hook.meter.took(durationMs);
  if (ending.kind === 'failed') reportFailure(hook, ending, { tool, callId, durationMs }, needs);
}
