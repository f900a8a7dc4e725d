import type { Ending } from '../../domain/call/ending.ts';
import { settingsFor } from '../../domain/policy/loop-settings.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import type { AllowedCall, IdentifiedCall, PassedStages, SettledCall } from '../../domain/ports/staged-calls.ts';
import type { SettlementFacts } from './encode-audit.ts';
import { settleOutcome } from './settle-outcome.ts';
import type { ArgumentChange } from '../../domain/call/argument-change.ts';

/** Stores the outcome, its replies and its audit record in one step. Then counts the call and calls the observer hooks. */
export async function settle(
  passed: PassedStages,
  ending: Extract<Ending, { kind: 'ended' }>,
  plane: Plane,
): Promise<void> {
  const { delivered, identified, permit, isAllowed } = passed;
  const settled = await settleOutcome(delivered, ending.outcome, factsOf(passed, ending), plane);
  delivered.events?.settled(settled.answer, settled.outcome);
  countSettled(settled, plane);
  if (identified !== undefined) observe(identified, isAllowed && permit?.verdict, settled, plane);
}

function factsOf(
  { identified, permit, gateMs, isAllowed }: PassedStages,
  { refusedBy, reviewed }: Extract<Ending, { kind: 'ended' }>,
): SettlementFacts {
  const gate = isAllowed === undefined ? refusedBy : permit?.verdict.facts;
  const judged = gate === undefined ? {} : { gate };
  if (identified === undefined) return judged;
  const { admitted, envelope, identity, tool } = identified;
  const call = permit?.verdict.call ?? identified;
  return {
    toolDigest: tool.declaration.digest,
    effect: tool.declaration.effect,
    tool: tool.declaration,
    arguments: call.arguments,
    loops: settingsFor(admitted.policy.loops, identity.agent),
    policyVersion: permit?.policyVersion ?? admitted.policyVersion,
    permission: call.permission,
    sent: envelope,
    ...(gateMs === undefined ? {} : { gateMs }),
    ...(reviewed === undefined ? {} : { reviewed }),
    ...judged,
  };
}

/** Counts a settled call. If this worker had lost the call, its outcome was dropped: log that instead. */
function countSettled(settled: SettledCall, needs: Pick<Plane, 'log' | 'onSettled'>): void {
  const { delivered, outcome, answer, durationMs } = settled;
  if (answer === 'settled') return needs.onSettled(outcome.kind);
  const { callId, tool } = delivered.delivery;
  const { kind, executed, error } = outcome;
  const facts = { stage: 'settle', callId, tool, outcome: kind, executed, code: error?.code, durationMs, answer };
  needs.log.warn(facts, 'outcome dropped: the call is no longer ours');
}

const UNCHANGED: readonly ArgumentChange[] = Object.freeze([]);

/**
 * Notifies the observer hooks how the call ended. Only the worker that settled it does, so each is notified once. Hooks cannot change or
 * delay the outcome here.
 */
function observe(
  { envelope, identity, tool, arguments: sent }: IdentifiedCall,
  allowed: AllowedCall | undefined,
  { delivered, outcome, answer, durationMs }: SettledCall,
  { hooks }: Pick<Plane, 'hooks'>,
): void {
  if (hooks === undefined || answer !== 'settled') return;
  const { delivery } = delivered;
  hooks.after({
    callId: delivery.callId,
    session: delivery.session,
    run: delivery.run,
    identity,
    ...(envelope.parent === undefined ? {} : { parent: envelope.parent }),
    ...(envelope.trace === undefined ? {} : { trace: envelope.trace }),
    ...(envelope.untrusted === undefined ? {} : { untrusted: envelope.untrusted }),
    tool: tool.declaration,
    arguments: allowed?.call.arguments ?? sent,
    changedBy: allowed?.facts.changedBy ?? UNCHANGED,
    outcome,
    durationMs,
  });
}
