import type { AgentDeclaration, SelectionInput } from './selection.ts';

/** An agent as code declares it: what it selects, or that and a description. */
export type AgentInput = SelectionInput | { readonly selection: SelectionInput; readonly description?: string };

/** By name. `null` takes an agent away; agents that are not named stay as they are. */
export type AgentsInput = Readonly<Record<string, AgentInput | null>>;

/** For whom agents are declared. */
export interface DeclareOptions {
  /** For this tenant alone, in place of what is declared in general. Without it: for every tenant that has none of its own. */
  readonly tenant?: string;
}

/** One declaration: the agent, and the tenant if it is for one alone. */
export interface DeclaredPlace extends DeclareOptions {
  readonly name: string;
}

/** What a declaration was checked to mean. */
export interface AgentChanges {
  readonly declared: Readonly<Record<string, AgentDeclaration>>;
  readonly removed: readonly string[];
  readonly warnings: readonly string[];
  readonly tenant?: string;
}

/** What a declaration has done. */
export interface DeclaredAgents {
  /** Of the policy in which they stand. */
  readonly policyVersion: number;
  /** False: it stood there like this already, and nothing was written. */
  readonly changed: boolean;
  /**
   * These are the first agents of the deployment, or of the tenant: nothing was selected before, and every agent there had what the
   * permissions allow. From now on an agent that is not declared has no tools there.
   */
  readonly selectingBegan: boolean;
  /** As they are stored. */
  readonly declared: Readonly<Record<string, AgentDeclaration>>;
  /** Those that were there. */
  readonly removed: readonly string[];
  /** Legal, and probably not meant: names that are not published, modules with several entries, nothing selected. */
  readonly warnings: readonly string[];
}
