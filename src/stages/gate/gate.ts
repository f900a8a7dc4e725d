import type { RunHistory } from '../../domain/call/attempt.ts';
import type { Ending } from '../../domain/call/ending.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import type { RuleDecision } from '../../domain/policy/rule-decision.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import { mergeAsks } from '../../gate/approvals/merge-asks.ts';
import {
  judge,
  unchanged,
  type GateChecks,
  type PassedHooks,
  type NoObjection,
  objectionOfLoop,
} from '../../gate/judge.ts';
import { readRewritten, stopped } from '../../gate/judged-arguments.ts';
import { PASS, type LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { asksOf } from '../../gate/rules/asks-of.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import { askApproval, askDefaults } from './ask-approval.ts';
import type { AdmittedCall, AllowedCall, GateFacts, IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { historyOf, judgeLoop, reportLoop, deniedByRule, judgeRules } from './checks.ts';
import { allow, endByObjection, endedWithAdvice } from './verdict.ts';
import { resume, resumeAgain, verdictStale } from './resume.ts';
import { useGrant } from './use-grant.ts';
import { releasesKey } from '../../domain/outcome/outcome.ts';

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals' | 'runners' | 'shares'>;

/**
 * The checks between "may" and "does". The strictest answer counts. `judge` asks loop detection, rules and hooks; after that `conclude`
 * looks for a grant or asks a person. A call without objections and without hooks needs no wait and no store round trip.
 */
export function gate(call: IdentifiedCall, needs: Needs): MaybePromise<AllowedCall | Ending> {
  const { delivery, events } = call.admitted;
  if (delivery.resumedWith !== undefined) return resume(call, needs);
  const history = historyOf(delivery);
  const { arguments: args, canonical } = call;
  const judged = judge({ tool: call.tool.declaration, arguments: args, canonical }, checksOf(call, history, needs));
  return andThen(judged, (judgement) => {
    switch (judgement.kind) {
      case 'aborted':
        return stopped(call, needs);
      case 'objection':
        return endByObjection(judgement, events);
      case 'no-objection':
        return conclude(call, judgement, history, needs);
    }
  });
}

function checksOf(call: IdentifiedCall, history: RunHistory, needs: Needs): GateChecks {
  const { hooks } = needs;
  const { delivery, policy, events } = call.admitted;
  const looped = { delivery, policy, agent: call.identity.agent, tool: call.tool.declaration };
  return {
    detectLoop: ({ arguments: args, canonical }) =>
      judgeLoop(looped, history, { arguments: args, canonical, sent: call.envelope.arguments }),
    reportLoop: (loop) => reportLoop(loop, events),
    decideByRules: (args) => judgeRules(call, args),
    runHooks:
      hooks &&
      (() => hooks.before(hookedCall(call), (given, canonical) => readRewritten(call, given, canonical, needs))),
  };
}

/**
 * Checks the same call again before its tool starts, because the policy is newer or the call's grant may have been revoked. Rules, grants
 * and people decide again; hooks and loop detection are not repeated. `mayAsk` is false once the start mark is written: a parked call with
 * a start mark would count as one that ran.
 */
export function gateAgain(
  { call, basis }: AllowedCall,
  admitted: AdmittedCall,
  mayAsk: boolean,
  needs: Needs,
): MaybePromise<AllowedCall | Ending> {
  const again = { ...(basis?.call ?? call), admitted };
  if (admitted.delivery.resumedWith !== undefined) return resumeAgain(again, mayAsk, needs);
  const passed = basis?.passed ?? unchanged(again);
  const decision = judgeRules(again, passed.arguments);
  const { history, loop } = basis ?? { history: historyOf(admitted.delivery), loop: PASS };
  if (decision.verdict === 'deny') return deniedByRule(again, decision, loop);
  return conclude(again, { loop, decision, passed }, history, needs, mayAsk);
}

function conclude(
  call: IdentifiedCall,
  { loop, decision, passed }: Omit<NoObjection, 'kind'>,
  history: RunHistory,
  needs: Needs,
  mayAsk = true,
): MaybePromise<AllowedCall | Ending> {
  const [first, ...rest]: Ask[] = [...asksOf(decision, call.tool.declaration), ...passed.asks];
  const facts: GateFacts | undefined = factsOf(call, loop, decision, passed);
  const effective =
    passed.changedBy.length === 0 ? call : { ...call, arguments: passed.arguments, canonical: passed.canonical };
  const basis = needs.hooks === undefined && loop.kind === 'pass' ? undefined : { call, history, loop, passed };
  if (first === undefined) return allow(effective, facts, basis);
  const asks = [first, ...rest] as const;
  const asking = mayAsk ? askOrGrant(call, asks, passed, history, needs) : grantOnly(call, asks, passed, needs);
  return asking.then((answer) =>
    answer.kind === 'granted'
      ? allow(effective, { ...facts, grant: answer.grant }, basis)
      : endedWithAdvice(answer, loop),
  );
}

async function grantOnly(
  call: IdentifiedCall,
  asks: readonly Ask[],
  passed: PassedHooks,
  needs: Needs,
): Promise<NonNullable<Awaited<ReturnType<typeof useGrant>>>> {
  return (await useGrant(call, asks, passed.canonical, needs)) ?? verdictStale(call);
}

async function askOrGrant(
  call: IdentifiedCall,
  asks: readonly [Ask, ...Ask[]],
  passed: PassedHooks,
  history: RunHistory,
  needs: Needs,
): Promise<NonNullable<Awaited<ReturnType<typeof useGrant>>>> {
  const granted = await useGrant(call, asks, passed.canonical, needs);
  return granted ?? askApproval(call, mergeAsks(asks, askDefaults(call)), passed, history, needs);
}

/**
 * What the later stages need to know of the gate. Undefined for the usual call: nothing was changed, no loop was warned of, and no named
 * rule allowed it.
 */
function factsOf(
  call: IdentifiedCall,
  loop: LoopVerdict,
  { by }: RuleDecision,
  passed: PassedHooks,
): GateFacts | undefined {
  const isSent = passed.canonical === call.envelope.arguments;
  const isUsual = loop.kind === 'pass' && by === 'unmatched' && passed.changedBy.length === 0 && isSent;
  if (isUsual) return undefined;
  return {
    ...(isSent ? {} : { effective: passed.canonical, changedBy: passed.changedBy }),
    ...(loop.kind === 'warn' ? { advice: loop.message, detector: loop.detector } : {}),
    ...(by === 'unmatched' ? {} : { rule: by.id }),
  };
}

function hookedCall({
  admitted: { delivery, signal },
  envelope,
  identity,
  tool,
  arguments: args,
  canonical,
}: IdentifiedCall) {
  return {
    callId: delivery.callId,
    session: delivery.session,
    run: delivery.run,
    identity,
    ...(envelope.parent === undefined ? {} : { parent: envelope.parent }),
    ...(envelope.trace === undefined ? {} : { trace: envelope.trace }),
    ...(envelope.untrusted === undefined ? {} : { untrusted: envelope.untrusted }),
    tool: tool.declaration,
    arguments: args,
    canonical,
    signal,
  };
}

/**
 * Loop detection for a call that the stage identify refused: an unknown tool name, a tool that the agent may not use, arguments that are
 * always invalid. Such a call never reaches the gate, so without this an agent that repeats it forever would never be stopped.
 */
export function checkRefusedForLoop(admitted: AdmittedCall, ending: Ending): Ending {
  const { delivery, policy, events } = admitted;
  if (ending.kind !== 'ended' || delivery.history === undefined || releasesKey(ending.outcome.kind)) return ending;
  const { agent } = JSON.parse(delivery.identity) as { agent: string };
  const loop = judgeLoop({ delivery, policy, agent, tool: { id: delivery.tool } }, historyOf(delivery));
  if (loop.kind === 'pass') return ending;
  reportLoop(loop, events);
  if (loop.kind === 'block') return endByObjection(objectionOfLoop(loop), events);
  return endedWithAdvice(ending, loop);
}
