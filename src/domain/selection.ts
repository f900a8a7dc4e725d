import { splitToolId } from './ids.ts';

/**
 * What an agent takes of one module. `all` includes tools that the module gets later; a list is exactly that list, and an empty one
 * is none. `*` as the module, only with `all`, is every module.
 */
export interface ModuleSelection {
  readonly module: string;
  readonly tools: 'all' | readonly string[];
}

/** At most one entry per module, in the order of their ids. */
export type Selection = readonly ModuleSelection[];

/** An agent as it was declared. All agents of a deployment are peers: none takes anything from another. */
export interface AgentDeclaration {
  readonly selection: Selection;
  readonly description?: string;
}

export const ALL_MODULES = '*';

/** How a person may write it: the grammar of the docs, and the form of setups and triggers. */
export type SelectionInput = readonly (
  | { readonly module: string; readonly tools: 'all' | readonly string[] | Readonly<Record<string, boolean>> }
  | { readonly setup_id: string; readonly triggers: Readonly<Record<string, boolean>> }
)[];

/** The one form that is stored. Entries for one module are united, and `duplicates` names such modules. */
export function normaliseSelection(input: SelectionInput): { selection: Selection; duplicates: string[] } {
  const byModule = new Map<string, 'all' | Set<string>>();
  const duplicates = new Set<string>();
  for (const entry of input) {
    const module = 'module' in entry ? entry.module : entry.setup_id;
    const tools = toolsOf('module' in entry ? entry.tools : entry.triggers);
    const known = byModule.get(module);
    if (known !== undefined) duplicates.add(module);
    const union = known === 'all' || tools === 'all' ? 'all' : new Set([...(known ?? []), ...tools]);
    byModule.set(module, union);
  }
  const selection = [...byModule.keys()].sort().map((module): ModuleSelection => {
    const tools = byModule.get(module)!;
    return { module, tools: tools === 'all' ? 'all' : [...tools].sort() };
  });
  return { selection, duplicates: [...duplicates].sort() };
}

/** Nothing is ever guessed from emptiness: an empty list and a map of falses are both none. */
function toolsOf(tools: 'all' | readonly string[] | Readonly<Record<string, boolean>>): 'all' | readonly string[] {
  if (tools === 'all') return 'all';
  if (isList(tools)) return tools;
  return Object.keys(tools).filter((name) => tools[name] === true);
}

function isList(tools: object): tools is readonly string[] {
  return Array.isArray(tools);
}

type Compiled = ReadonlyMap<string, 'all' | ReadonlySet<string>>;

/** A selection never changes, so it is taken apart once. */
const compiled = new WeakMap<Selection, Compiled>();

export function selects(selection: Selection, toolId: string): boolean {
  const modules = compile(selection);
  if (modules.has(ALL_MODULES)) return true;
  const id = splitToolId(toolId);
  const tools = id === undefined ? undefined : modules.get(id.module);
  return tools === 'all' || (tools !== undefined && tools.has(id!.tool));
}

function compile(selection: Selection): Compiled {
  let modules = compiled.get(selection);
  if (modules === undefined) {
    modules = new Map(selection.map(({ module, tools }) => [module, tools === 'all' ? 'all' : new Set(tools)]));
    compiled.set(selection, modules);
  }
  return modules;
}
