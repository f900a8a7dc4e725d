import { agentsOf, checkSelection, findAgent, isSelecting } from '../identity/agent.ts';
import { compareText, indexCatalog, type CatalogIndex, type IndexedModule } from './catalog-index.ts';
import type { Catalog, PublishedTool } from './catalog.ts';
import { splitToolId, toolId } from '../identity/ids.ts';
import { checkPermission, type Policy } from '../policy/policy.ts';
import { ALL_MODULES, takenByModule, takenFrom, takesEverything, type Selection } from '../identity/selection.ts';
import type { Identity } from '../identity/session.ts';
import type { ToolDeclaration } from './tool.ts';

/** Why an agent does not have a tool. */
export const MISSING_REASONS = [
  'agent-unknown',
  'not-selected',
  'unknown-name',
  'nothing-matched',
  'module-absent',
  'module-empty',
  'no-permission',
  'denied',
  'paused',
] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

export interface MissingTool {
  /** `module.tool`, or `module.*` where the reason applies to the whole module. */
  readonly tool: string;
  readonly reason: MissingReason;
  /** The agent whose selection lacks the tool, if it is not the caller's own agent. */
  readonly delegator?: string;
}

/** What one agent is shown: a view of the shared catalog, which stays unchanged. In the order of the tools' ids. */
export interface Toolkit {
  readonly tools: readonly PublishedTool[];
  /** Computed on first read: it has an entry for every tool of the catalog that the agent lacks. */
  readonly missing: readonly MissingTool[];
}

/**
 * The toolkit of one agent, computed only from the catalog, the policy and the identity. Uses the same checks as the execution of calls, so
 * that the model sees exactly what it may call.
 */
export function buildToolkit(catalog: Catalog, policy: Policy, identity: Identity): Toolkit {
  let missing: readonly MissingTool[] | undefined;
  return Object.freeze({
    tools: findTools(catalog, policy, identity),
    get missing() {
      return (missing ??= explainMissing(catalog, policy, identity));
    },
  });
}

/** The resources and prompts that an agent may use, by the same rule as for tools. In the order of their ids. */
export function findSurfaces(catalog: Catalog, policy: Policy, identity: Identity): readonly PublishedTool[] {
  const all = indexCatalog(catalog).modules.flatMap(({ surfaces }) => surfaces);
  return Object.freeze(
    all.filter(
      ({ tool }) =>
        checkPermission(policy, tool, identity).allowed && checkSelection(policy, tool.id, identity).selected,
    ),
  );
}

/**
 * The ids of the modules from which a toolkit takes tools, including modules that are not published. Its tools can change only if one of
 * these modules changes. `Toolkit.missing`, however, depends on all modules of the catalog.
 */
export function modulesOfToolkit(policy: Policy, identity: Identity): 'all' | readonly string[] {
  if (!isSelecting(policy, identity.tenant)) return 'all';
  let modules: 'all' | readonly string[] = 'all';
  for (const name of agentsOf(identity)) {
    const declared = findAgent(policy, identity.tenant, name);
    if (declared === undefined) return [];
    if (takesEverything(declared.selection)) continue;
    const taken = takenByModule(declared.selection);
    modules = modules === 'all' ? [...taken.keys()] : modules.filter((id) => taken.has(id));
  }
  return modules;
}

function findTools(catalog: Catalog, policy: Policy, identity: Identity): readonly PublishedTool[] {
  const index = indexCatalog(catalog);
  const isOpen = !isSelecting(policy, identity.tenant);
  const selections = isOpen ? [] : agentsOf(identity).map((name) => findAgent(policy, identity.tenant, name));
  if (!selections.every((declared) => declared !== undefined)) return Object.freeze([]);
  const found: PublishedTool[] = [];
  const held = selections.map(({ selection }) => selection);
  const modules = modulesOf(index, held[0]);
  for (const module of modules) {
    const may = permissionWithin(module, policy, identity);
    for (const published of selectedOf(module, held)) if (may(published.tool)) found.push(published);
  }
  // All agents that have every tool get the same list object.
  if (modules === index.modules && found.length === index.tools.length) return index.tools;
  return Object.freeze(found);
}

/** The modules that the agent's own selection can take tools from, in catalog order. */
function modulesOf(index: CatalogIndex, own: Selection | undefined): readonly IndexedModule[] {
  if (own === undefined || takesEverything(own)) return index.modules;
  const modules = [...takenByModule(own).keys()].map((id) => index.find(id));
  return modules.filter((module) => module !== undefined).sort((a, b) => a.place - b.place);
}

/** The tools of a module that every one of these selections takes. */
function selectedOf(module: IndexedModule, held: readonly Selection[]): readonly PublishedTool[] {
  const lists: ReadonlySet<string>[] = [];
  for (const selection of held) {
    const taken = takenFrom(selection, module.id);
    if (taken === undefined) return [];
    if (taken !== 'all') lists.push(taken);
  }
  const [first, ...others] = lists;
  if (first === undefined) return module.tools;
  return [...first]
    .filter((name) => others.every((list) => list.has(name)))
    .map((name) => module.find(name))
    .filter((published) => published !== undefined)
    .sort((a, b) => compareText(a.tool.id, b.tool.id));
}

/**
 * Whether the caller may use a tool of this module. Permission depends on the tool's module, on whether it is privileged, and on its own
 * name where the policy names it. So one answer is kept for all tools of a module that the policy does not name, and 10,000 tools are not
 * checked one by one.
 */
function permissionWithin(
  module: IndexedModule,
  policy: Policy,
  identity: Identity,
): (tool: ToolDeclaration) => boolean {
  const named = namedTools(policy).get(module.id);
  let ordinary: boolean | undefined;
  let privileged: boolean | undefined;
  return (tool) => {
    if (named?.has(tool.id) === true) return checkPermission(policy, tool, identity).allowed;
    if (tool.privileged) return (privileged ??= checkPermission(policy, tool, identity).allowed);
    return (ordinary ??= checkPermission(policy, tool, identity).allowed);
  };
}

/** Tools that a policy names one by one, by module. Cached per policy: another version of the policy is another object. */
const named = new WeakMap<Policy, ReadonlyMap<string, ReadonlySet<string>>>();

function namedTools(policy: Policy): ReadonlyMap<string, ReadonlySet<string>> {
  const known = named.get(policy);
  if (known !== undefined) return known;
  const made = new Map<string, Set<string>>();
  for (const id of [...Object.keys(policy.permissions), ...(policy.paused.tools ?? [])]) {
    const module = splitToolId(id)?.module;
    if (module === undefined) continue;
    let tools = made.get(module);
    if (tools === undefined) made.set(module, (tools = new Set()));
    tools.add(id);
  }
  named.set(policy, made);
  return made;
}

/**
 * Why this agent lacks tools: one entry for every tool of the catalog that it lacks, and for everything it selects that the catalog does
 * not have.
 */
export function explainMissing(catalog: Catalog, policy: Policy, identity: Identity): readonly MissingTool[] {
  const missing = missingOfSelection(indexCatalog(catalog), policy, identity);
  for (const { tool } of indexCatalog(catalog).tools) {
    const found = whyMissing(policy, tool, identity);
    if (found !== undefined) missing.push(found);
  }
  for (const entry of missing) Object.freeze(entry);
  return Object.freeze(missing.sort((a, b) => compareText(a.tool, b.tool) || compareText(a.reason, b.reason)));
}

/** Why the agent lacks a tool; undefined if it has the tool. Makes the same checks as the stage `identify`, in the same order. */
function whyMissing(policy: Policy, tool: ToolDeclaration, identity: Identity): MissingTool | undefined {
  const permission = checkPermission(policy, tool, identity);
  if (!permission.allowed && permission.reason === 'paused') return { tool: tool.id, reason: 'paused' };
  const selected = checkSelection(policy, tool.id, identity);
  if (!selected.selected) {
    const { reason, agent } = selected;
    return agent === identity.agent ? { tool: tool.id, reason } : { tool: tool.id, reason, delegator: agent };
  }
  if (permission.allowed) return undefined;
  return { tool: tool.id, reason: permission.reason === 'denied' ? 'denied' : 'no-permission' };
}

/**
 * Names in the agent's selection that the catalog does not have. They are never silently dropped: the person who declared the selection is
 * warned.
 */
function missingOfSelection(index: CatalogIndex, policy: Policy, identity: Identity): MissingTool[] {
  const declared = findAgent(policy, identity.tenant, identity.agent);
  if (declared === undefined) return [];
  return [...takenByModule(declared.selection)].flatMap(([module, taken]): MissingTool[] => {
    if (module === ALL_MODULES && taken === 'all') return [];
    const whole = `${module}.*`;
    const found = index.find(module);
    if (found === undefined) return [{ tool: whole, reason: 'module-absent' }];
    if (found.tools.length + found.surfaces.length === 0) return [{ tool: whole, reason: 'module-empty' }];
    if (taken === 'all') return [];
    const surfaces = new Set<string>(found.surfaces.map(({ tool }) => tool.id));
    const isThere = (name: string): boolean => found.find(name) !== undefined || surfaces.has(toolId(module, name));
    const unknown = [...taken].filter((name) => !isThere(name));
    const missing = unknown.map((name): MissingTool => ({ tool: toolId(module, name), reason: 'unknown-name' }));
    // None of the selected names exists, so the id may belong to a different module than the declaration meant.
    if (taken.size > 0 && unknown.length === taken.size) missing.push({ tool: whole, reason: 'nothing-matched' });
    return missing;
  });
}
