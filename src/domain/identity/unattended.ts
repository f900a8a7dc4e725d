import { agentsOf } from './agent.ts';
import type { Policy } from '../policy/policy.ts';
import type { Identity } from './session.ts';

/**
 * Prefix of the name and the id of an unattended run. A call is accepted only in a run that is open under exactly the id that the call
 * names, so no caller can remove the prefix. Checking it needs no request to the store.
 */
export const UNATTENDED_RUN = 'unattended-';

export function isUnattendedRun(run: string): boolean {
  return run.startsWith(UNATTENDED_RUN);
}

/**
 * Why no person is asked about calls of this caller; undefined if a person may be asked. One of three reasons is enough: the policy lists
 * the agent or one that it acts for as unattended, the session is unattended, or the run is. Nothing that a caller sends can undo a reason.
 */
export function whyUnattended(
  { unattended = [] }: Pick<Policy, 'unattended'>,
  identity: Identity,
  run?: string,
): string | undefined {
  const agent = agentsOf(identity).find((name) => unattended.includes(name));
  if (agent !== undefined) return `agent ${agent} runs unattended`;
  if (identity.unattended === true) return 'the session is unattended';
  return run !== undefined && isUnattendedRun(run) ? 'the run is unattended' : undefined;
}
