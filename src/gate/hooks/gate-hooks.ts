import type { GateHooks } from '../../domain/ports/gate-hooks.ts';
import type { HookReporting } from './call-hook.ts';
import type { HookSet } from './hook-set.ts';
import { createObserverQueue } from './observer-queue.ts';
import { runAfterHooks, runResolvedHooks } from './run-after-hooks.ts';
import { runBeforeHooks, untouched } from './run-before-hooks.ts';
import { KEPT, runResultHooks } from './run-result-hooks.ts';

export function createGateHooks(set: HookSet, reporting: HookReporting): GateHooks {
  const queue = createObserverQueue(reporting);
  return {
    // Most tools have no hooks, so no event is built for them.
    before: (call, read) =>
      set.matching('before_tool_call', call.tool).length === 0
        ? untouched(call)
        : runBeforeHooks(set, call, { ...reporting, read }),
    result: (ended, checks) =>
      set.matching('tool_result', ended.tool).length === 0
        ? KEPT
        : runResultHooks(set, ended, { ...reporting, ...checks }),
    after: (ended) => runAfterHooks(set, ended, queue),
    resolved: (tool, approval) => runResolvedHooks(set, tool, approval, reporting),
    listens: (on, tool) => set.matching(on, tool).length > 0,
    deadlineMs(on) {
      const deadlines = set.hooks.filter((hook) => hook.on === on).map(({ timeoutMs }) => timeoutMs);
      return deadlines.length === 0 ? undefined : Math.max(...deadlines);
    },
    health: () => set.health(),
    idle: (timeoutMs) => queue.idle(timeoutMs),
  };
}
