import type { ArgumentChange, Ask } from '../../domain/hook.ts';
import { deepFreeze } from '../../domain/deep-freeze.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Soon } from '../../domain/soon.ts';
import type { GateHooks, HookedCall, HooksVerdict, ValidateArguments } from '../../ports/gate-hooks.ts';
import type { Log } from '../../ports/log.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { sha256 } from '../../wire/digest.ts';
import { mergeAsks, type MergedAsk } from '../hooks/merge-asks.ts';
import { whenHere } from '../when-here.ts';
import { askApprover, unaskable, type ApprovalEnding } from './ask-approver.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GateApprover, GatedTool, GateLoops, GateQuestion, GateRules, LoopAnswer } from './gate-parts.ts';
import type { OpenAttempt } from './run-memory.ts';

/** A call of a wrapped tool. */
export interface GatedCall extends HookedCall {
  readonly tool: GatedTool;
}

export interface GateParts {
  readonly hooks: GateHooks;
  readonly rules?: GateRules;
  readonly loops?: GateLoops;
  readonly approver?: GateApprover;
  readonly log: Log;
}

/** The call with the arguments as they are by now. */
export interface JudgedCall {
  readonly arguments: JsonObject;
  readonly canonical: string;
  readonly changedBy: readonly ArgumentChange[];
}

export type CallVerdict = JudgedCall &
  (
    | { readonly kind: 'allowed'; readonly advice?: string }
    | { readonly kind: 'refused'; readonly refusal: Refusal }
    | { readonly kind: 'aborted' }
  );

const NO_CHANGES: readonly ArgumentChange[] = Object.freeze([]);

/** The checks in the order of the plane: loops, rules, hooks, rules again on what hooks made of it, approval. */
export function judgeCall(
  call: GatedCall,
  open: OpenAttempt | undefined,
  validate: ValidateArguments,
  parts: GateParts,
): Soon<CallVerdict> {
  const judged: JudgedCall = { arguments: call.arguments, canonical: call.canonical, changedBy: NO_CHANGES };
  const looped = open === undefined ? PASS : askLoops(call, open, parts);
  if (looped.kind === 'block') return { kind: 'refused', refusal: loopRefusal(looped), ...judged };
  const ruled = askRules(call, judged.arguments, parts);
  if ('refusal' in ruled) return { kind: 'refused', ...ruled, ...judged };
  return whenHere(parts.hooks.before(call, validate), (hooked) => {
    if (hooked.kind !== 'passed') {
      return hooked.kind === 'aborted'
        ? { ...hooked, ...judged }
        : { kind: 'refused', refusal: hookRefusal(hooked, call), ...judged };
    }
    const { asks, ...effective } = hooked;
    return judgeEffective(call, open, effective, { byRules: ruled.asks, byHooks: asks, loop: looped }, parts);
  });
}

interface Wishes {
  readonly byRules: readonly Ask[];
  readonly byHooks: readonly Ask[];
  readonly loop: LoopAnswer;
}

function judgeEffective(
  call: GatedCall,
  open: OpenAttempt | undefined,
  effective: JudgedCall,
  wishes: Wishes,
  parts: GateParts,
): Soon<CallVerdict> {
  const judged: JudgedCall = {
    arguments: effective.arguments,
    canonical: effective.canonical,
    changedBy: effective.changedBy,
  };
  let { byRules, loop } = wishes;
  if (judged.canonical !== call.canonical) {
    open?.rewrite(judged.canonical);
    const again = open === undefined ? PASS : askLoops(call, open, parts);
    if (again.kind === 'block') return { kind: 'refused', refusal: loopRefusal(again), ...judged };
    if (again.kind === 'warn') loop = again;
    // What runs is what rules are about: their first word was about arguments that nobody will see.
    const ruled = askRules(call, judged.arguments, parts);
    if ('refusal' in ruled) return { kind: 'refused', ...ruled, ...judged };
    byRules = ruled.asks;
  }
  const asked = mergeAsks([...byRules, ...wishes.byHooks]);
  const allowed: CallVerdict = {
    kind: 'allowed',
    ...(loop.kind === 'warn' ? { advice: loop.message } : {}),
    ...judged,
  };
  // The last look before the tool is entered.
  const unlessStopped = (): CallVerdict => (call.signal?.aborted === true ? { kind: 'aborted', ...judged } : allowed);
  if (asked === undefined) return unlessStopped();
  return approve(call, judged, asked, parts).then(({ refusal }) =>
    refusal === undefined ? unlessStopped() : { kind: 'refused', refusal, ...judged },
  );
}

const PASS: LoopAnswer = Object.freeze({ kind: 'pass' });

function askLoops({ tool, identity }: GatedCall, open: OpenAttempt, { loops }: GateParts): LoopAnswer {
  const { history, state, attempt } = open;
  return loops?.judge({ history, run: state, attempt, tool, identity }) ?? PASS;
}

function loopRefusal({ code, message, facts }: Extract<LoopAnswer, { kind: 'block' }>): Refusal {
  return { code, kind: 'blocked', reason: message, ...(facts === undefined ? {} : { facts }) };
}

function askRules(
  { tool, identity }: HookedCall,
  given: JsonObject,
  { rules }: GateParts,
): { readonly asks: readonly Ask[] } | { readonly refusal: Refusal } {
  const answer = rules?.decide({ tool, identity, arguments: given });
  if (answer === undefined || answer.verdict === 'allow') return { asks: [] };
  if (answer.verdict === 'ask') return answer;
  return { refusal: { code: 'RULE_DENIED', kind: 'denied', reason: answer.reason, by: answer.rule } };
}

function hookRefusal(verdict: Extract<HooksVerdict, { kind: 'blocked' | 'failed' }>, { tool }: HookedCall): Refusal {
  const { hook } = verdict;
  const outcome =
    verdict.kind === 'failed'
      ? trouble('HOOK_FAILED', {})
      : verdict.code === 'HOOK_BLOCKED'
        ? trouble('HOOK_BLOCKED', { hook, reason: verdict.reason })
        : trouble('HOOK_ARGUMENTS_INVALID', { hook, tool: tool.id, problems: [...verdict.problems] });
  const { code, message } = outcome.error!;
  // A hook that failed is not named: that is for the operator's log.
  return { code, kind: 'blocked', reason: message, ...(verdict.kind === 'failed' ? {} : { by: hook }) };
}

async function approve(
  call: HookedCall,
  { canonical }: JudgedCall,
  asked: MergedAsk,
  { approver, hooks, log }: GateParts,
): Promise<ApprovalEnding> {
  const { callId, session, run, identity, tool } = call;
  const askers = asked.askers.map(({ kind, id, digest }) => ({ kind, id, digest }));
  const binding = sha256(canonicalJson({ tool: tool.id, arguments: canonical, session, askers }));
  const copy = JSON.parse(
    JSON.stringify({ ...asked, callId, tool: tool.id, session, run, identity, binding }),
  ) as GateQuestion;
  const question = deepFreeze({ ...copy, arguments: JSON.parse(canonical) as JsonObject });
  const ending = approver === undefined ? unaskable() : await askApprover(approver, question, call.signal, log);
  const { approvalId, resolution } = ending;
  // Nobody waits for them: whatever a callback does, the answer stands.
  void hooks.resolved(tool, {
    approvalId,
    resolution,
    callId,
    tool: tool.id,
    session,
    run,
    identity,
    askers: asked.askers,
    binding,
  });
  return ending;
}
