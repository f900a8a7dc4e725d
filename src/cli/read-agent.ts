import { nearNames } from '../catalog/near-names.ts';
import { agentName } from '../config/agent-schema.ts';
import type { Policy } from '../domain/policy.ts';
import type { AgentDeclaration } from '../domain/selection.ts';
import { CommandFailure, usage } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';

export const NOT_SELECTING =
  'No agents are declared, so nothing is selected: every agent has what the permissions allow. To declare one: sallyport agents set NAME FILE';

/** A name that an agent can have; otherwise nothing is asked of the store. */
export function checkAgentName(name: string): string {
  const checked = agentName.safeParse(name);
  if (checked.success) return name;
  throw usage(`The name of the agent cannot be used: ${checked.error.issues[0]!.message}.`);
}

/** The declared agent, or a failure that tells which names are near. */
export function findAgent({ agents }: Policy, name: string): AgentDeclaration {
  if (agents !== undefined && Object.hasOwn(agents, name)) return agents[name]!;
  const near = nearNames(name, Object.keys(agents ?? {}));
  const fix = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List the agents with: sallyport agents list';
  throw new CommandFailure('AGENT_UNKNOWN', EXIT.notOk, `There is no agent "${name.slice(0, 256)}".`, fix);
}
