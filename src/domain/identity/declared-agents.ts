import type { AgentDeclaration, SelectionInput } from './selection.ts';

/** An agent as code declares it: its selection alone, or its selection and a description. */
export type AgentInput = SelectionInput | { readonly selection: SelectionInput; readonly description?: string };

/** Agents by name. `null` removes an agent; agents that are not named stay as they are. */
export type AgentsInput = Readonly<Record<string, AgentInput | null>>;

/** The scope of a declaration of agents. */
export interface DeclareOptions {
  /**
   * Declares the agents for this tenant alone, where they replace the general declarations. Absent: for every tenant that has none of its
   * own.
   */
  readonly tenant?: string;
}

/** The place of one declaration: the agent's name, and the tenant if the declaration is for one tenant alone. */
export interface DeclaredPlace extends DeclareOptions {
  readonly name: string;
}

/** The changes that a declaration makes, after it was checked. */
export interface AgentChanges {
  readonly declared: Readonly<Record<string, AgentDeclaration>>;
  readonly removed: readonly string[];
  readonly warnings: readonly string[];
  readonly tenant?: string;
}

/** The result of a declaration. */
export interface DeclaredAgents {
  /** Version of the policy that contains the declared agents. */
  readonly policyVersion: number;
  /** False if the policy already contained exactly this, so that nothing was written. */
  readonly changed: boolean;
  /**
   * True if these are the first agents of the deployment, or of the tenant. Before, nothing was selected, and every agent there had what
   * the permissions allow. From now on, an agent that is not declared has no tools there.
   */
  readonly selectingBegan: boolean;
  /** The declarations as they are stored. */
  readonly declared: Readonly<Record<string, AgentDeclaration>>;
  /** Names of the removed agents; only those that existed. */
  readonly removed: readonly string[];
  /** Legal but probably unintended: names that are not published, modules with several entries, nothing selected. */
  readonly warnings: readonly string[];
}
