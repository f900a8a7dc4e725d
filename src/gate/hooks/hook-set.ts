import type { HookedTool, HookEventName, HookHealth } from '../../domain/policy/hook.ts';
import { matchesTool } from './match-tool.ts';
import type { RegisteredHook } from './registered-hook.ts';

/** The hooks of a process, in the order in which they are called. */
export interface HookSet {
  readonly hooks: readonly RegisteredHook[];
  /** The hooks for this event and tool. Most tools have none and always get the same empty list; a call costs one lookup. */
  matching(on: HookEventName, tool: HookedTool): readonly RegisteredHook[];
  health(): HookHealth[];
}

const NONE: readonly RegisteredHook[] = Object.freeze([]);
/**
 * Max number of tools in the cache. Tool ids come from a catalog, so it is not expected to fill up; a caller that invents ids must not
 * exhaust the memory.
 */
const MAX_TOOLS = 10_000;

type Matching = Readonly<Record<HookEventName, readonly RegisteredHook[]>> & { readonly effect: string };

export function createHookSet(registered: readonly RegisteredHook[]): HookSet {
  // Sorting is stable: hooks of equal priority stay in the order of their registration.
  const hooks = Object.freeze(registered.toSorted((a, b) => b.priority - a.priority));
  const known = new Map<string, Matching>();

  function match(tool: HookedTool): Matching {
    const on = (event: HookEventName): readonly RegisteredHook[] => {
      const found = hooks.filter((hook) => hook.on === event && matchesTool(hook.match, tool));
      return found.length === 0 ? NONE : Object.freeze(found);
    };
    const matching = {
      effect: tool.effect,
      before_tool_call: on('before_tool_call'),
      tool_result: on('tool_result'),
      after_tool_call: on('after_tool_call'),
      approval_resolved: on('approval_resolved'),
    };
    if (known.size >= MAX_TOOLS) known.clear();
    known.set(tool.id, matching);
    return matching;
  }

  return {
    hooks,
    matching(on, tool) {
      if (hooks.length === 0) return NONE;
      const found = known.get(tool.id);
      // A module that was loaded again may declare another effect for the tool. Then the cached entry is not used.
      return (found?.effect === tool.effect ? found : match(tool))[on];
    },
    health: () => hooks.map(({ meter }) => meter.read()),
  };
}
