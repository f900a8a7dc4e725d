import type { GrantId } from '../../domain/policy/approval.ts';
import type { Ending } from '../../domain/call/ending.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ArgumentCondition } from '../../domain/policy/rule.ts';
import { grantMatches } from '../../gate/approvals/grants.ts';
import { compileCondition, conditionIsMet } from '../../gate/rules/compile-condition.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import { encode } from '../../base/message-pack.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';

/** Finds a grant that answers every asker of this call, and counts it as used; undefined when there is none. */
export async function useGrant(
  call: IdentifiedCall,
  asks: readonly Ask[],
  canonical: string,
  { store }: Pick<Plane, 'store'>,
): Promise<{ readonly kind: 'granted'; readonly grant: GrantId } | Ending | undefined> {
  if (!asks.every(({ asker }) => asker.grantable)) return undefined;
  const { delivery } = call.admitted;
  const { id: tool, digest: toolDigest } = call.tool.declaration;
  const asked = {
    tool,
    toolDigest,
    arguments: canonical,
    identity: call.identity,
    askers: asks.map(({ asker }) => asker),
  };
  const grants = await store.findGrants({ session: delivery.session, tool, callId: delivery.callId });
  const { callId, pool, workerId, entryId, fence } = delivery;
  for (const grant of grants.filter((one) => grantMatches(one, asked, conditionsHold))) {
    const audit = encode({ grant: grant.id, approval: grant.approval });
    const answer = await store.useGrant({ id: grant.id, owned: { callId, pool, workerId, entryId, fence }, audit });
    if (answer === 'fenced') return { kind: 'lost' };
    if (answer === 'used') return { kind: 'granted', grant: grant.id };
  }
  return undefined;
}

/** A condition that cannot be judged counts as not met, as in a rule that allows. */
function conditionsHold(conditions: string, canonical: string): boolean {
  const args = JSON.parse(canonical) as JsonObject;
  const list = JSON.parse(conditions) as ArgumentCondition[];
  return list.every((condition) => conditionIsMet(compileCondition(condition), args, true));
}
