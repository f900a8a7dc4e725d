import type { Identity } from '../../domain/identity/session.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { checkSelection, type SelectionAnswer } from '../../domain/identity/agent.ts';
import { checkPermission, type PermissionAnswer, type Policy } from '../../domain/policy/policy.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';

/** One cache for the process. The same text is the same identity, so all calls of a session share one frozen object. */
const identities = new BoundedCache<string, Identity>(16_384);

export function parseIdentity(text: string): Identity {
  return identities.getOrMake(text, parse);
}

function parse(text: string): Identity {
  const identity = Object.freeze(JSON.parse(text) as Identity);
  // Tool code gets this shared object. If it could remove a delegator, later calls would be allowed more than they should.
  Object.freeze(identity.delegators);
  return identity;
}

export interface Access {
  readonly selection: SelectionAnswer;
  readonly permission: PermissionAnswer;
}

/**
 * Cached decisions: per policy version, then per identity, then per tool digest. A new policy version is a new object, so its cache is
 * empty.
 */
const decisions = new WeakMap<Policy, WeakMap<Identity, Map<string, Access>>>();

/** Decides selection and permission. The answer depends only on policy, tool and identity, so it is cached. */
export function decideAccess(policy: Policy, tool: ToolDeclaration, identity: Identity): Access {
  let byIdentity = decisions.get(policy);
  if (byIdentity === undefined) decisions.set(policy, (byIdentity = new WeakMap()));
  let byTool = byIdentity.get(identity);
  if (byTool === undefined) byIdentity.set(identity, (byTool = new Map()));
  let access = byTool.get(tool.digest);
  if (access === undefined) {
    access = {
      selection: checkSelection(policy, tool.id, identity),
      permission: checkPermission(policy, tool, identity),
    };
    byTool.set(tool.digest, access);
  }
  return access;
}
