import { warnOfFirstAgents } from '../gate/policy/agent-warnings.ts';
import { applyPolicyFile, findPolicyWarnings, keptParts, type PolicyFile } from '../gate/policy/policy-file.ts';
import { whyClosed } from '../gate/policy/closed-policy.ts';
import { checkRules } from '../gate/policy/rule-problems.ts';
import type { Administered } from '../domain/identity/actor.ts';
import { planeError } from '../domain/errors/errors.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { nearNames } from '../base/near-names.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';

export interface SetPolicy {
  readonly version: number;
  readonly warnings: readonly string[];
  /** Parts of the previous policy that stay, because the new one does not mention them. */
  readonly kept: readonly string[];
}

/**
 * Replaces the current policy by the one that was read. Throws POLICY_CONFLICT if the current policy no longer has the expected version,
 * and POLICY_INVALID for rules that the published tools cannot meet.
 */
export async function setPolicy(
  store: PolicyWriter & CatalogReader,
  read: PolicyFile,
  who: Administered,
  expectedVersion?: number,
): Promise<SetPolicy> {
  const tools = (await store.readCatalog()).modules.flatMap(entriesOf);
  const current = await store.readPolicy();
  const expected = expectedVersion ?? current.version;
  // The parts that the file does not mention come from the version just read, so that version must be the expected one.
  if (current.version !== expected) throw planeError('POLICY_CONFLICT', { expected, found: current.version });
  const policy = applyPolicyFile(read, current.policy);
  const known = tools.length === 0 ? undefined : { tools };
  const closed = whyClosed(policy);
  const first = current.policy.agents === undefined ? Object.keys(policy.agents ?? {}) : [];
  const warnings = [
    ...read.warnings,
    ...(closed === undefined ? [] : [closed]),
    ...(first.length === 0 ? [] : [warnOfFirstAgents(first)]),
    ...findPolicyWarnings(policy, known?.tools, nearNames, read),
    ...checkRules(read, policy, known, nearNames),
  ];
  const written = await store.writePolicy({ ...who, expectedVersion: expected, policy });
  if (written.kind === 'conflict') throw planeError('POLICY_CONFLICT', { expected, found: written.version });
  return { version: written.version, warnings, kept: keptParts(read, current.policy) };
}
