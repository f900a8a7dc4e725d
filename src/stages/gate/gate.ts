import type { RunHistory } from '../../domain/attempt.ts';
import type { Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import type { Ask } from '../../domain/hook.ts';
import type { RuleDecision } from '../../domain/rule-decision.ts';
import type { Soon } from '../../domain/soon.ts';
import { mergeAsks } from '../../gate/approvals/merge-asks.ts';
import { PASS, type LoopVerdict } from '../../gate/loop/loop-verdict.ts';
import { asksOf } from '../../gate/rules/asks-of.ts';
import { readRewritten, stopped } from '../../gate/judged-arguments.ts';
import { whenHere } from '../../gate/when-here.ts';
import type { HooksVerdict } from '../../ports/gate-hooks.ts';
import type { Plane } from '../../ports/plane.ts';
import { askApproval, askDefaults } from './ask-approval.ts';
import { allow, type Allowed, type GatedCall, type GateFacts } from './gated-call.ts';
import {
  blockedByLoop,
  endedWithAdvice,
  historyOf,
  judgeLoop,
  tellWarning,
  type LoopedArguments,
} from './judge-loop.ts';
import { deniedByRule, judgeRules } from './judge-rules.ts';
import { refuse } from './refuse.ts';
import { resume, resumeAgain, verdictStale } from './resume.ts';
import { useGrant } from './use-grant.ts';

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals' | 'runners' | 'shares'>;
type Passed = Extract<HooksVerdict, { kind: 'passed' }>;

/**
 * The checks between "may" and "does"; the strictest answer counts. In order: loop detection, rules, hooks, loop detection and rules again
 * on arguments that hooks changed, then grants and people. A call without objections and without hooks needs no wait and no store round trip.
 */
export function gate<Call extends GatedCall>(call: Call, needs: Needs): Soon<Allowed<Call> | Ending> {
  const { delivery, policy, events } = call.claimed;
  if (delivery.resumedWith !== undefined) return resume(call, needs);
  const history = historyOf(delivery);
  const loop = judgeLoop(looped(call), history, loopedArguments(call, call));
  if (loop.kind === 'block') return blockedByLoop(loop, events);
  tellWarning(loop, events);

  const decision =
    policy.rules === undefined && policy.unmatched === undefined ? NO_RULES : judgeRules(call, call.arguments);
  if (decision.verdict === 'deny') return endedWithAdvice(deniedByRule(call, decision), loop);

  const found: Found = { history, loop, decision };
  if (needs.hooks === undefined) return conclude(call, found, unchanged(call), needs);
  const hooked = needs.hooks.before(hookedCall(call), (given, canonical) =>
    readRewritten(call, given, canonical, needs),
  );
  return whenHere(hooked, (verdict) => afterHooks(call, found, verdict, needs));
}

/**
 * Checks the same call again, under a newer policy or after something slow: rules, grants and people decide again, as on resume. Hooks and
 * loop detection are not repeated. `mayAsk` is false once the start is marked: a parked call with a start mark would count as run.
 */
export function gateAgain<Call extends GatedCall>(
  { call, basis }: Allowed<Call>,
  claimed: Call['claimed'],
  mayAsk: boolean,
  needs: Needs,
): Soon<Allowed<Call> | Ending> {
  const again = { ...(basis?.call ?? call), claimed };
  if (claimed.delivery.resumedWith !== undefined) return resumeAgain(again, mayAsk, needs);
  const passed = basis?.passed ?? unchanged(again);
  const decision = judgeRules(again, passed.arguments);
  const { history, loop } = basis ?? { history: historyOf(claimed.delivery), loop: PASS };
  if (decision.verdict === 'deny') return endedWithAdvice(deniedByRule(again, decision), loop);
  return conclude(again, { history, loop, decision }, passed, needs, mayAsk);
}

interface Found {
  readonly history: RunHistory;
  readonly loop: LoopVerdict;
  readonly decision: RuleDecision;
}

const NO_RULES: RuleDecision = Object.freeze({ verdict: 'allow', by: 'unmatched', matched: [], askers: [] });

function looped({ claimed: { delivery, policy }, identity, tool }: GatedCall) {
  return { delivery, policy, agent: identity.agent, tool: tool.declaration };
}

/** What loop detection compares: the text that the caller sent, and the arguments that run, without their volatile values. */
function loopedArguments(
  { envelope }: GatedCall,
  { arguments: args, canonical }: Pick<GatedCall, 'arguments' | 'canonical'>,
): LoopedArguments {
  return { arguments: args, canonical, sent: envelope.arguments };
}

function afterHooks<Call extends GatedCall>(
  call: Call,
  found: Found,
  verdict: HooksVerdict,
  needs: Needs,
): Soon<Allowed<Call> | Ending> {
  const { events } = call.claimed;
  switch (verdict.kind) {
    case 'aborted':
      return stopped(call, needs);
    case 'failed':
      return endedWithAdvice(refuse(trouble('HOOK_FAILED', {}), events, 'hook', verdict.hook), found.loop);
    case 'blocked': {
      const { hook } = verdict;
      const outcome =
        verdict.code === 'HOOK_BLOCKED'
          ? trouble('HOOK_BLOCKED', { hook, reason: verdict.reason })
          : trouble('HOOK_ARGUMENTS_INVALID', {
              hook,
              tool: call.tool.declaration.id,
              problems: [...verdict.problems],
            });
      return endedWithAdvice(refuse(outcome, events, 'hook', hook), found.loop);
    }
    case 'passed':
      return verdict.changedBy.length === 0
        ? conclude(call, found, verdict, needs)
        : judgeAgain(call, found, verdict, needs);
  }
}

/** Hooks changed the arguments, so the verdicts on the caller's arguments do not apply to these. */
function judgeAgain<Call extends GatedCall>(
  call: Call,
  found: Found,
  passed: Passed,
  needs: Needs,
): Soon<Allowed<Call> | Ending> {
  const loop = judgeLoop(looped(call), found.history, loopedArguments(call, passed));
  if (loop.kind === 'block') return blockedByLoop(loop, call.claimed.events);
  const decision = judgeRules(call, passed.arguments);
  if (found.loop.kind !== 'warn') tellWarning(loop, call.claimed.events);
  const worse = found.loop.kind === 'warn' ? found.loop : loop;
  if (decision.verdict === 'deny') return endedWithAdvice(deniedByRule(call, decision), worse);
  return conclude(call, { history: found.history, loop: worse, decision }, passed, needs);
}

function conclude<Call extends GatedCall>(
  call: Call,
  { history, loop, decision }: Found,
  passed: Passed,
  needs: Needs,
  mayAsk = true,
): Soon<Allowed<Call> | Ending> {
  const [first, ...rest]: Ask[] = [...asksOf(decision), ...passed.asks];
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
  call: GatedCall,
  asks: readonly Ask[],
  passed: Passed,
  needs: Needs,
): Promise<NonNullable<Awaited<ReturnType<typeof useGrant>>>> {
  return (await useGrant(call, asks, passed.canonical, needs)) ?? verdictStale(call);
}

async function askOrGrant(
  call: GatedCall,
  asks: readonly [Ask, ...Ask[]],
  passed: Passed,
  history: RunHistory,
  needs: Needs,
): Promise<NonNullable<Awaited<ReturnType<typeof useGrant>>>> {
  const granted = await useGrant(call, asks, passed.canonical, needs);
  return granted ?? askApproval(call, mergeAsks(asks, askDefaults(call)), passed, history, needs);
}

/** Undefined for the usual call: nothing was changed, no loop was warned of, and no named rule allowed it. */
function factsOf(call: GatedCall, loop: LoopVerdict, { by }: RuleDecision, passed: Passed): GateFacts | undefined {
  const isSent = passed.canonical === call.envelope.arguments;
  const isUsual = loop.kind === 'pass' && by === 'unmatched' && passed.changedBy.length === 0 && isSent;
  if (isUsual) return undefined;
  return {
    ...(isSent ? {} : { effective: passed.canonical, changedBy: passed.changedBy }),
    ...(loop.kind === 'warn' ? { advice: loop.message, detector: loop.detector } : {}),
    ...(by === 'unmatched' ? {} : { rule: by.id }),
  };
}

function unchanged(call: GatedCall): Passed {
  return { kind: 'passed', arguments: call.arguments, canonical: call.canonical, changedBy: [], asks: [] };
}

function hookedCall({
  claimed: { delivery, signal },
  envelope,
  identity,
  tool,
  arguments: args,
  canonical,
}: GatedCall) {
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
