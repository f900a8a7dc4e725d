import { findNameWarnings } from '../gate/policy/name-warnings.ts';
import { findPolicyWarnings } from '../gate/policy/policy-file.ts';
import type { Administered } from '../domain/identity/actor.ts';
import { splitToolId } from '../domain/identity/ids.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { nearNames } from '../base/near-names.ts';
import type { Paused, Policy } from '../domain/policy/policy.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';
import { changePolicy } from './change-policy.ts';

export interface PauseTarget {
  readonly what: 'agent' | 'tool' | 'all';
  /** The name of the agent; for a tool `module.tool` or `module.*`. */
  readonly name?: string;
}

export interface PauseChange {
  readonly version: number;
  readonly changed: boolean;
  readonly paused: Paused;
  readonly warnings: readonly string[];
}

type Needs = PolicyWriter & CatalogReader;

/** Describes in a sentence what is wrong with a target; undefined if it is valid. */
export function findTargetProblem({ what, name }: PauseTarget): string | undefined {
  if (what === 'all') return name === undefined ? undefined : '"all" takes no name.';
  if (name === undefined) return `Name the ${what}: sallyport pause ${what} NAME`;
  const isTool = splitToolId(name.replace(/\.\*$/, '.x')) !== undefined || name === '*';
  return what === 'agent' || isTool ? undefined : 'A tool is named module.tool, or module.* for all of a module.';
}

/** The kill switch: pauses or resumes an agent, a tool or all calls. Without a target it resumes everything. */
export async function changePaused(
  store: Needs,
  target: PauseTarget | undefined,
  resume: boolean,
  who: Administered,
): Promise<PauseChange> {
  const { version, changed, policy } = await changePolicy(store, who, ({ policy: current }) => ({
    ...current,
    paused: withTarget(current.paused, target, resume),
  }));
  const warnings = target === undefined || resume ? [] : await findWarnings(store, target, policy);
  return { version, changed, paused: policy.paused, warnings };
}

export async function readPaused(store: Needs): Promise<PauseChange> {
  const { version, policy } = await store.readPolicy();
  return { version, changed: false, paused: policy.paused, warnings: [] };
}

/** Whether the paused agent or tool exists: a misspelt name stops nothing. */
async function findWarnings(store: Needs, { what, name = '' }: PauseTarget, policy: Policy): Promise<string[]> {
  if (what === 'all') return [];
  if (what === 'agent')
    return findNameWarnings({ ...policy, paused: { agents: [name] }, unattended: [], secrets: {} }, nearNames).map(
      ({ text }) => text,
    );
  const tools = (await store.readCatalog()).modules.flatMap(entriesOf);
  const asked: Policy = { roles: {}, permissions: {}, paused: { tools: [name] } };
  return findPolicyWarnings(asked, tools, nearNames);
}

function withTarget(paused: Paused, target: PauseTarget | undefined, resume: boolean): Paused {
  if (target === undefined) return {};
  const { what, name = '' } = target;
  const { all: _, ...rest } = paused;
  if (what === 'all') return resume ? rest : { ...rest, all: true };
  const list = what === 'agent' ? 'agents' : 'tools';
  const names = new Set(paused[list]);
  if (resume) names.delete(name);
  else names.add(name);
  const { [list]: __, ...others } = paused;
  return names.size === 0 ? others : { ...others, [list]: [...names].sort() };
}
