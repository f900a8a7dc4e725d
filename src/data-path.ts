import { isEnding } from './domain/ending.ts';
import type { DeliveredCall, Plane } from './ports/plane.ts';
import { claim } from './stages/claim/claim.ts';
import { execute } from './stages/execute/execute.ts';
import { gate } from './stages/gate/gate.ts';
import { identify } from './stages/identify/identify.ts';
import { reply } from './stages/reply/reply.ts';
import { settle, type SettlementFacts } from './stages/settle/settle.ts';

export { STAGES, type Stage } from './domain/stages.ts';

/**
 * The story of a call on a worker; each line is a folder in stages/. The caller's part before it is stages/call: the call was
 * accepted, and its delivery brought everything. A stage that ends the call says how, and every ending is settled. What is
 * lost to another worker, or was handed back, is not ours to settle.
 */
export async function runClaimed(delivered: DeliveredCall, plane: Plane): Promise<void> {
  const claimed = await claim(delivered, plane);
  const identified = isEnding(claimed) ? claimed : await identify(claimed, plane);
  const verdict = isEnding(identified) ? identified : await gate(identified);
  const ending = isEnding(verdict) ? verdict : await execute(verdict, plane);
  if (ending.kind !== 'ended') return;
  const facts: SettlementFacts = isEnding(identified)
    ? {}
    : {
        toolDigest: identified.tool.declaration.digest,
        policyVersion: identified.claimed.policyVersion,
        permission: identified.permission,
        effect: identified.tool.declaration.effect,
      };
  const settled = await settle(delivered, ending.outcome, facts, plane);
  reply(settled, plane);
}
