import type { HookedTool, HookMatch } from '../../domain/policy/hook.ts';
import { toolPatternMatches } from '../../domain/policy/policy.ts';

export function matchesTool({ tools, effects }: HookMatch, tool: HookedTool): boolean {
  if (effects !== undefined && !effects.includes(tool.effect)) return false;
  return tools === undefined || tools.some((pattern) => toolPatternMatches(pattern, tool.id));
}
