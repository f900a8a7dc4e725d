import { checkSelection } from './agent.ts';
import { indexTools, type Catalog, type PublishedTool } from './catalog.ts';
import { toolId, type ToolId } from './ids.ts';
import { checkPermission, type Policy } from './policy.ts';
import { ALL_MODULES } from './selection.ts';
import type { Identity } from './session.ts';

/** Why an agent does not have a tool. */
export const MISSING_REASONS = [
  'agent-unknown',
  'not-selected',
  'unknown-name',
  'module-absent',
  'module-empty',
  'no-permission',
  'denied',
  'paused',
] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

export interface MissingTool {
  /** `module.tool`, or `module.*` where the reason is the module's. */
  readonly tool: string;
  readonly reason: MissingReason;
  /** The agent whose selection lacks it, if it is not the caller's own. */
  readonly delegator?: string;
}

/** What one agent is shown: a view of the shared catalog, which stays as it is. In the order of the tools' ids. */
export interface Toolkit {
  readonly tools: readonly PublishedTool[];
  readonly missing: readonly MissingTool[];
}

/**
 * A pure function of what everybody shares and what this agent declared. The same rule as at execution, so that the model sees
 * exactly what it may call.
 */
export function buildToolkit(catalog: Catalog, policy: Policy, identity: Identity): Toolkit {
  const tools: PublishedTool[] = [];
  const missing: MissingTool[] = [...missingOfSelection(catalog, policy, identity)];
  for (const published of indexTools(catalog).values()) {
    const reason = whyMissing(policy, published, identity);
    if (reason === undefined) tools.push(published);
    else missing.push(reason);
  }
  tools.sort((a, b) => compare(a.tool.id, b.tool.id));
  missing.sort((a, b) => compare(a.tool, b.tool) || compare(a.reason, b.reason));
  return { tools, missing };
}

function whyMissing(policy: Policy, { tool }: PublishedTool, identity: Identity): MissingTool | undefined {
  const selected = checkSelection(policy, tool.id, identity);
  if (!selected.selected) {
    const { reason, agent } = selected;
    return agent === identity.agent ? { tool: tool.id, reason } : { tool: tool.id, reason, delegator: agent };
  }
  const permission = checkPermission(policy, tool, identity);
  if (permission.allowed) return undefined;
  return { tool: tool.id, reason: permission.reason === 'not-granted' ? 'no-permission' : permission.reason };
}

/** What the agent names and the catalog does not have. Never guessed away: whoever declared it is told. */
function missingOfSelection(catalog: Catalog, policy: Policy, identity: Identity): MissingTool[] {
  const declared = policy.agents === undefined ? undefined : policy.agents[identity.agent];
  const modules = new Map(catalog.modules.map((module) => [module.id, module]));
  return (declared?.selection ?? []).flatMap(({ module, tools }): MissingTool[] => {
    if (module === ALL_MODULES) return [];
    const found = modules.get(module);
    if (found === undefined) return [{ tool: `${module}.*`, reason: 'module-absent' }];
    if (found.tools.length === 0) return [{ tool: `${module}.*`, reason: 'module-empty' }];
    if (tools === 'all') return [];
    const ids = new Set<ToolId>(found.tools.map((tool) => tool.id));
    return tools
      .map((name) => toolId(module, name))
      .filter((id) => !ids.has(id))
      .map((id) => ({ tool: id, reason: 'unknown-name' as const }));
  });
}

/** By code units: the same on every machine and in every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
