import { checkPermission, type PermissionAnswer, type Policy } from '../../domain/policy.ts';
import type { Identity } from '../../domain/session.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';

/** Decisions of one policy version, by tool definition and identity. Another version is another object and starts empty. */
const decisions = new WeakMap<Policy, WeakMap<Identity, Map<string, PermissionAnswer>>>();

/** The same question about the same policy has the same answer, so it is worked out once. */
export function decidePermission(policy: Policy, tool: ToolDeclaration, identity: Identity): PermissionAnswer {
  let byIdentity = decisions.get(policy);
  if (byIdentity === undefined) decisions.set(policy, (byIdentity = new WeakMap()));
  let byTool = byIdentity.get(identity);
  if (byTool === undefined) byIdentity.set(identity, (byTool = new Map()));
  let answer = byTool.get(tool.digest);
  if (answer === undefined) byTool.set(tool.digest, (answer = checkPermission(policy, tool, identity)));
  return answer;
}
