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

/** What was written and probably not meant. Whoever declares a selection is told. */
export interface NormalisedSelection {
  readonly selection: Selection;
  /** Modules with several entries; these were united. */
  readonly duplicates: readonly string[];
  /** Entries without a module id; these were left out. */
  readonly blanks: number;
}

/** The one form that is stored. */
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

/** Nothing is ever guessed from emptiness: an empty list and a map of falses are both none. */
function toolsOf(tools: 'all' | readonly string[] | Readonly<Record<string, boolean>>): 'all' | readonly string[] {
  if (tools === 'all') return 'all';
  if (isList(tools)) return tools;
  return Object.keys(tools).filter((name) => tools[name] === true);
}

function isList(tools: object): tools is readonly string[] {
  return Array.isArray(tools);
}

type Taken = 'all' | ReadonlySet<string>;

/** A selection never changes, so it is taken apart once. */
const compiled = new WeakMap<Selection, ReadonlyMap<string, Taken>>();

/** What a selection takes, by module. */
export function takenByModule(selection: Selection): ReadonlyMap<string, Taken> {
  const known = compiled.get(selection);
  if (known !== undefined) return known;
  const made = new Map<string, 'all' | Set<string>>();
  for (const { module, tools } of selection) unite(made, module, tools);
  compiled.set(selection, made);
  return made;
}

/** Whether it is every tool of every module. A list on `*` names no tool of any module. */
export function takesEverything(selection: Selection): boolean {
  return takenByModule(selection).get(ALL_MODULES) === 'all';
}

/** What it takes of one module; undefined is nothing. */
export function takenFrom(selection: Selection, module: string): Taken | undefined {
  return takesEverything(selection) ? 'all' : takenByModule(selection).get(module);
}

export function selects(selection: Selection, toolId: string): boolean {
  if (takesEverything(selection)) return true;
  const id = splitToolId(toolId);
  const taken = id === undefined ? undefined : takenFrom(selection, id.module);
  return taken === 'all' || (taken !== undefined && taken.has(id!.tool));
}
