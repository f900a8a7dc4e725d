import type { Identity } from '../../domain/identity/session.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { checkSelection, type SelectionAnswer } from '../../domain/identity/agent.ts';
import { checkPermission, type PermissionAnswer, type Policy } from '../../domain/policy/policy.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';

/** One for the process. The same text is the same identity, so one frozen object serves all calls of a session. */
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

/** Decisions of one policy version, by identity and tool digest. A new version is a new object and starts with an empty cache. */
const decisions = new WeakMap<Policy, WeakMap<Identity, Map<string, Access>>>();

/** Cached: for the same policy, tool and identity the answer is always the same. */
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
