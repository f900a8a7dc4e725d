import { isEnding, type Ending } from './domain/call/ending.ts';
import { settingsFor } from './domain/policy/loop-settings.ts';
import type { DeliveredCall, Plane } from './domain/ports/plane.ts';
import { admit } from './stages/admit/admit.ts';
import { execute } from './stages/execute/execute.ts';
import { checkRefusedForLoop } from './stages/gate/check-refused-for-loop.ts';
import { gate } from './stages/gate/gate.ts';
import { identify } from './stages/identify/identify.ts';
import { countSettled } from './stages/settle/count-settled.ts';
import { observe } from './stages/settle/observe.ts';
import { settle, type SettlementFacts } from './stages/settle/settle.ts';
import { StartPermit } from './stages/start-permit.ts';

export { STAGES, type Stage } from './domain/call/stages.ts';

/**
 * The path of a call on a worker; each block is a folder in stages/. The caller's part, stages/accept, comes before it: the call was
 * accepted, and its delivery contains everything needed. Every ending of a stage is settled, except three: the call was lost to another
 * worker, was handed back, or waits for a person.
 *
 * A stage usually returns at once; it is awaited only when it has to ask the store or a hook. Awaiting all five stages would cost more than
 * a short call.
 */
export async function runClaimed(delivered: DeliveredCall, plane: Plane): Promise<void> {
  const { events } = delivered;
  const admitting = admit(delivered, plane);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  events?.passed('admit', admitted);

  const identifying = isEnding(admitted) ? admitted : identify(admitted, plane);
  const identified = identifying instanceof Promise ? await identifying : identifying;
  events?.passed('identify', identified);

  const gating = isEnding(identified)
    ? isEnding(admitted)
      ? identified
      : checkRefusedForLoop(admitted, identified)
    : gate(identified, plane);
  const judged = gating instanceof Promise ? await gating : gating;
  // Identify and gate may have waited for a hook, a schema or a person's answer. If that took too long, the verdict is checked again.
  const permit = isEnding(judged) ? undefined : new StartPermit(judged, plane);
  const stopping = permit?.stopFor();
  const stopped = stopping instanceof Promise ? await stopping : stopping;
  const verdict = stopped ?? permit?.verdict ?? judged;
  events?.passed('gate', verdict);
  const gateMs = Math.floor(performance.now() - delivered.arrivedAt);

  const executing = isEnding(verdict) ? verdict : execute(verdict, plane, permit);
  const ending = executing instanceof Promise ? await executing : executing;
  events?.passed('execute', ending);
  if (ending.kind !== 'ended') return;

  const refused = isEnding(verdict) ? refusalFacts(verdict) : undefined;
  const facts: SettlementFacts = isEnding(identified)
    ? { ...refused }
    : {
        toolDigest: identified.tool.declaration.digest,
        effect: identified.tool.declaration.effect,
        tool: identified.tool.declaration,
        arguments: permit?.verdict.call.arguments ?? identified.arguments,
        loops: settingsFor(identified.admitted.policy.loops, identified.identity.agent),
        policyVersion: permit?.policyVersion ?? identified.admitted.policyVersion,
        permission: permit?.verdict.call.permission ?? identified.permission,
        sent: identified.envelope,
        gateMs,
        ...(ending.reviewed === undefined ? {} : { reviewed: ending.reviewed }),
        ...(isEnding(verdict) ? refused : { gate: permit?.verdict.facts ?? verdict.facts }),
      };
  const settled = await settle(delivered, ending.outcome, facts, plane);
  events?.settled(settled.answer, settled.outcome);
  countSettled(settled, plane);
  if (!isEnding(identified)) observe(identified, isEnding(verdict) ? undefined : verdict, settled, plane);
}

/** The gate's facts about a call it refused: for the audit, and the advice for the model. */
function refusalFacts(verdict: Ending): Pick<SettlementFacts, 'gate'> | undefined {
  return verdict.kind === 'ended' && verdict.refusedBy !== undefined ? { gate: verdict.refusedBy } : undefined;
}
