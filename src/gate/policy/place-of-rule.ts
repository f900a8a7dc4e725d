import { isDeepStrictEqual } from 'node:util';
import { declaredAt } from '../../domain/identity/agent.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { PolicyFile } from './policy-file.ts';

/**
 * Where a rule of the policy in force is written in a policy file, as `file:line:column`. Undefined if the file does not contain it: the
 * rule was set by a command, or the file has changed since.
 */
export function placeOfRule(file: PolicyFile, policy: Policy, rule: readonly string[]): string | undefined {
  const [part, first = '', second = '', name = ''] = rule;
  if (part === 'tenants') {
    const path = ['tenants', first, 'agents', name];
    const [written, stored] = [declaredAt(file.policy, name, first), declaredAt(policy, name, first)];
    const holds = written !== undefined && isDeepStrictEqual(written, stored);
    return holds ? file.placeOf(path, 'selection') : undefined;
  }
  if (part === 'agents') {
    const [written, stored] = [file.policy.agents?.[first], policy.agents?.[first]];
    const holds = written !== undefined && isDeepStrictEqual(written, stored);
    return holds ? file.placeOf(['agents', first], 'selection') : undefined;
  }
  if (part === 'permissions') {
    const list = second === 'deny' ? 'deny' : 'allow';
    const index = (file.policy.permissions[first]?.[list] ?? []).indexOf(name);
    return index < 0 ? undefined : file.placeOf(['permissions', first, list, index]);
  }
  if (part === 'rules') {
    const index = (file.policy.rules ?? []).findIndex(({ id }) => id === first);
    const [written, stored] = [file.policy.rules?.[index], policy.rules?.find(({ id }) => id === first)];
    return written !== undefined && isDeepStrictEqual(written, stored) ? file.placeOf(['rules', index]) : undefined;
  }
  if (part === 'unmatched') {
    return file.policy.unmatched === policy.unmatched ? file.placeOf([], 'unmatched') : undefined;
  }
  if (first === 'all') return file.policy.paused.all === true ? file.placeOf(['paused'], 'all') : undefined;
  const index = (file.policy.paused[first === 'agents' ? 'agents' : 'tools'] ?? []).indexOf(second);
  return index < 0 ? undefined : file.placeOf(['paused', first, index]);
}
