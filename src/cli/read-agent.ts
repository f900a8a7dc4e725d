import { nearNames } from '../base/near-names.ts';
import { agentName, plainText, tenantName } from '../gate/policy/agent-schema.ts';
import { agentsOfTenant, declaredAt, findAgent, nameAgent, namesInTenant } from '../domain/identity/agent.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { AgentDeclaration } from '../domain/identity/selection.ts';
import type { Identity } from '../domain/identity/session.ts';
import { CommandFailure, usage } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';

export const NOT_SELECTING =
  'No agents are declared, so nothing is selected: every agent has what the permissions allow. To declare one: sallyport agents set NAME FILE';

/** Rejects a name that no agent can have, before the store is asked. Returns the name. */
export function checkAgentName(name: string): string {
  const checked = agentName.safeParse(name);
  if (checked.success) return name;
  throw usage(`The name of the agent cannot be used: ${checked.error.issues[0]!.message}.`);
}

/** Reads `--tenant`, the tenant that declarations are for. Empty if it is not given. Rejects a tenant that no session can have. */
export function readTenantFlag({ tenant }: Readonly<Record<string, unknown>>): { readonly tenant?: string } {
  if (tenant === undefined) return {};
  const checked = tenantName.safeParse(tenant);
  if (checked.success) return { tenant: checked.data };
  throw usage(`--tenant: ${checked.error.issues[0]!.message}.`);
}

/** The declaration of an agent, general or for one tenant. Throws AGENT_UNKNOWN with similar names if there is none. */
export function findDeclared(policy: Policy, name: string, tenant?: string): AgentDeclaration {
  const agents = tenant === undefined ? policy.agents : agentsOfTenant(policy, tenant);
  return declaredAt(policy, name, tenant) ?? failUnknown(nameAgent(name, tenant), name, agents);
}

/** The declaration that applies to an agent in its tenant. Throws AGENT_UNKNOWN with similar names if there is none. */
export function findDeciding(policy: Policy, { agent, tenant }: Identity): AgentDeclaration {
  const names = namesInTenant(policy, tenant) ?? [];
  return (
    findAgent(policy, tenant, agent) ?? failUnknown(agent, agent, Object.fromEntries(names.map((one) => [one, 1])))
  );
}

function failUnknown(shown: string, name: string, agents: object = {}): never {
  const near = nearNames(name, Object.keys(agents));
  const fix = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List the agents with: sallyport agents list';
  throw new CommandFailure('AGENT_UNKNOWN', EXIT.notOk, `There is no agent "${shown.slice(0, 600)}".`, fix);
}

/** The caller that an operator asks about. It is given by options, because no caller logs in to this command. */
export function readIdentity(agent: string, options: Readonly<Record<string, unknown>>): Identity {
  const { subject = 'local', tenant = 'default' } = options as { subject?: string; tenant?: string };
  for (const [flag, text] of Object.entries({ subject, tenant })) {
    const checked = plainText.safeParse(text);
    if (!checked.success) throw usage(`--${flag}: ${checked.error.issues[0]!.message}.`);
  }
  if (tenant.includes('/')) throw usage('--tenant: a tenant has no slash.');
  const unattended = options['unattended'] === true ? { unattended: true as const } : {};
  return { tenant, subject, agent: checkAgentName(agent), ...unattended };
}

export function nameSubject({ tenant, subject }: Identity): string {
  return tenant === 'default' ? subject : `${tenant}/${subject}`;
}
