import { findAgent, namesInTenant } from './agent.ts';
import { nearNames } from '../../base/near-names.ts';
import type { Policy } from '../policy/policy.ts';
import type { Identity } from './session.ts';

/**
 * A warning for an operator who names an agent that has no tools because it is not declared. Where no agents are declared, any name is an
 * agent and there is no warning.
 */
export function warnOfUndeclared(policy: Policy, { tenant, agent }: Pick<Identity, 'tenant' | 'agent'>): string[] {
  const names = namesInTenant(policy, tenant);
  if (names === undefined || findAgent(policy, tenant, agent) !== undefined) return [];
  const [near] = nearNames(agent, names, 1);
  const guess = near === undefined ? '' : `; did you mean ${near}?`;
  return [`no agent "${agent.slice(0, 256)}" is declared, so it has no tools${guess}`];
}
