import { deepFreeze } from '../../base/deep-freeze.ts';
import type { ApprovalResolved, HookedTool } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import { callHook, reportFailure, type HookReporting } from './call-hook.ts';
import type { HookSet } from './hook-set.ts';
import type { RegisteredHook } from './registered-hook.ts';

/**
 * Passes the resolution of a question to the hooks of its tool. Resolves when all have answered or timed out, and never rejects. The data
 * path does not wait for it. The process that claimed the callback in the store waits for it and calls it once.
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
  await Promise.all(hooks.map((hook) => tell(hook, text, approval, needs)));
}

async function tell(
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
