import { splitToolId } from './ids.ts';

/**
 * What an agent selects from one module. `all` includes tools that the module gets later; a list is exactly that list, and an empty list is
 * none. The module `*`, only with `all`, is every module.
 */
export interface ModuleSelection {
  readonly module: string;
  readonly tools: 'all' | readonly string[];
}

/** The stored selection: at most one entry per module, in the order of their ids. */
export type Selection = readonly ModuleSelection[];

/** An agent as it was declared. All agents of a deployment are peers: no agent inherits tools from another. */
export interface AgentDeclaration {
  readonly selection: Selection;
  readonly description?: string;
}

export const ALL_MODULES = '*';

/** A selection as a person may write it: in the grammar of the docs, or in the form of setups and triggers. */
export type SelectionInput = readonly (
  | { readonly module: string; readonly tools: 'all' | readonly string[] | Readonly<Record<string, boolean>> }
  | { readonly setup_id: string; readonly triggers: Readonly<Record<string, boolean>> }
)[];

/** A selection in stored form, and what in it was probably unintended. The person who declares the selection is warned about that. */
export interface NormalisedSelection {
  readonly selection: Selection;
  /** Modules with several entries; the entries were merged. */
  readonly duplicates: readonly string[];
  /** Number of entries without a module id; these were left out. */
  readonly blanks: number;
}

/** Converts a selection to the one form that is stored. */
export function normaliseSelection(input: SelectionInput): NormalisedSelection {
  const byModule = new Map<string, 'all' | Set<string>>();
  const duplicates = new Set<string>();
  let blanks = 0;
  for (const entry of input) {
    const module = 'module' in entry ? entry.module : entry.setup_id;
    if (module.trim() === '') {
      blanks += 1;
      continue;
    }
    if (byModule.has(module)) duplicates.add(module);
    unite(byModule, module, toolsOf('module' in entry ? entry.tools : entry.triggers));
  }
  const selection = [...byModule.keys()].sort().map((module): ModuleSelection => {
    const tools = byModule.get(module)!;
    return { module, tools: tools === 'all' ? 'all' : [...tools].sort() };
  });
  return { selection, duplicates: [...duplicates].sort(), blanks };
}

function unite(byModule: Map<string, 'all' | Set<string>>, module: string, tools: 'all' | readonly string[]): void {
  const known = byModule.get(module);
  byModule.set(module, known === 'all' || tools === 'all' ? 'all' : new Set([...(known ?? []), ...tools]));
}

/** An empty list and a map of falses both select no tool. An empty selection never means all tools. */
function toolsOf(tools: 'all' | readonly string[] | Readonly<Record<string, boolean>>): 'all' | readonly string[] {
  if (tools === 'all') return 'all';
  if (isList(tools)) return tools;
  return Object.keys(tools).filter((name) => tools[name] === true);
}

function isList(tools: object): tools is readonly string[] {
  return Array.isArray(tools);
}

type Taken = 'all' | ReadonlySet<string>;

/** Cache of `takenByModule`. A selection never changes, so each one is computed only once. */
const compiled = new WeakMap<Selection, ReadonlyMap<string, Taken>>();

/** What a selection takes from each module, by module id. */
export function takenByModule(selection: Selection): ReadonlyMap<string, Taken> {
  const known = compiled.get(selection);
  if (known !== undefined) return known;
  const made = new Map<string, 'all' | Set<string>>();
  for (const { module, tools } of selection) unite(made, module, tools);
  compiled.set(selection, made);
  return made;
}

/** Whether the selection takes every tool of every module. A list of tools on `*` takes no tool of any module. */
export function takesEverything(selection: Selection): boolean {
  return takenByModule(selection).get(ALL_MODULES) === 'all';
}

/** What the selection takes from one module; undefined means nothing. */
export function takenFrom(selection: Selection, module: string): Taken | undefined {
  return takesEverything(selection) ? 'all' : takenByModule(selection).get(module);
}

export function selects(selection: Selection, toolId: string): boolean {
  if (takesEverything(selection)) return true;
  const id = splitToolId(toolId);
  const taken = id === undefined ? undefined : takenFrom(selection, id.module);
  return taken === 'all' || (taken !== undefined && taken.has(id!.tool));
}
