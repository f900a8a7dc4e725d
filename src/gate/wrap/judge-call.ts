import type { ArgumentChange } from '../../domain/argument-change.ts';
import type { Ask } from '../../domain/hook.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { withAdvice } from '../../domain/outcome.ts';
import { UNMATCHED } from '../../domain/rule-decision.ts';
import type { Soon } from '../../domain/soon.ts';
import type { HookedCall, HooksVerdict, ReadRewritten } from '../../ports/gate-hooks.ts';
import { argumentSignatures, targetSignature } from '../loop/argument-signature.ts';
import { detectLoop } from '../loop/detect-loop.ts';
import { factsOfBlock, PASS, RUN_ENDED, type LoopBlock, type LoopVerdict } from '../loop/loop-verdict.ts';
import { asksOf } from '../rules/asks-of.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { decideByRules } from '../rules/decide-by-rules.ts';
import { whenHere } from '../when-here.ts';
import { approve } from './approve.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { OpenAttempt } from './run-memory.ts';
import { tellLoop } from './tell-event.ts';

/** The call with its current arguments. */
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

/** Runs the checks in the plane's order: loops, rules, hooks, rules again if hooks changed the arguments, approval. */
export function judgeCall(
  call: GatedCall,
  open: OpenAttempt,
  read: ReadRewritten,
  parts: GateParts,
): Soon<CallVerdict> {
  const judged: JudgedCall = { arguments: call.arguments, canonical: call.canonical, changedBy: NO_CHANGES };
  const loop = judgeLoop(call, open, parts);
  tellLoop(call, loop, parts);
  if (loop.kind === 'block') return { kind: 'refused', refusal: blockedByLoop(loop), ...judged };
  const ruled = judgeRules(call, judged.arguments, parts);
  if ('refusal' in ruled) return { kind: 'refused', refusal: advised(ruled.refusal, loop), ...judged };
  return whenHere(parts.hooks.before(call, read), (hooked) => {
    if (hooked.kind !== 'passed') {
      return hooked.kind === 'aborted'
        ? { ...hooked, ...judged }
        : { kind: 'refused', refusal: advised(hookRefusal(hooked, call), loop), ...judged };
    }
    const { arguments: effective, canonical, changedBy } = hooked;
    const wishes: Wishes = { byRules: ruled.asks, byHooks: hooked.asks, loop };
    return judgeEffective(call, open, { arguments: effective, canonical, changedBy }, wishes, parts);
  });
}

/** Refuses arguments that cannot be checked. Like every attempt, this one counts for loop detection. */
export function refuseUnchecked(call: GatedCall, open: OpenAttempt, problem: string, parts: GateParts): CallVerdict {
  const loop = judgeLoop(call, open, parts);
  tellLoop(call, loop, parts);
  const refusal: Refusal =
    loop.kind === 'block'
      ? blockedByLoop(loop)
      : advised({ outcome: trouble('ARGUMENTS_INVALID', { tool: call.tool.id, problems: [problem] }) }, loop);
  const { arguments: given, canonical } = call;
  return { kind: 'refused', refusal, arguments: given, canonical, changedBy: NO_CHANGES };
}

interface Wishes {
  readonly byRules: readonly Ask[];
  readonly byHooks: readonly Ask[];
  readonly loop: LoopVerdict;
}

function judgeEffective(
  call: GatedCall,
  open: OpenAttempt,
  judged: JudgedCall,
  wishes: Wishes,
  parts: GateParts,
): Soon<CallVerdict> {
  let { byRules, loop } = wishes;
  if (judged.canonical !== call.canonical) {
    const again = judgeLoop(call, open, parts, judged);
    if (again.kind === 'block' || loop.kind !== 'warn') tellLoop(call, again, parts);
    if (again.kind === 'block') return { kind: 'refused', refusal: blockedByLoop(again), ...judged };
    if (loop.kind !== 'warn') loop = again;
    // Rules apply to the arguments that run. Their first verdict was about arguments that no tool will get.
    const ruled = judgeRules(call, judged.arguments, parts);
    if ('refusal' in ruled) return { kind: 'refused', refusal: advised(ruled.refusal, loop), ...judged };
    byRules = ruled.asks;
  }
  const allowed: CallVerdict = {
    kind: 'allowed',
    ...(loop.kind === 'warn' ? { advice: loop.message } : {}),
    ...judged,
  };
  // The last check of the stop signal before the tool is entered.
  const unlessStopped = (): CallVerdict => (call.signal?.aborted === true ? { kind: 'aborted', ...judged } : allowed);
  const [first, ...rest] = [...byRules, ...wishes.byHooks];
  if (first === undefined) return unlessStopped();
  return approve(call, [first, ...rest], judged.canonical, open, parts).then((outcome) =>
    outcome === undefined ? unlessStopped() : { kind: 'refused', refusal: advised({ outcome }, loop), ...judged },
  );
}

/** `judged` are the current arguments. */
function judgeLoop(
  { tool, canonical, arguments: given }: GatedCall,
  open: OpenAttempt,
  { loops }: GateParts,
  judged: Pick<JudgedCall, 'arguments' | 'canonical'> = { arguments: given, canonical },
): LoopVerdict {
  const { history, state, inEndedRun } = open;
  if (inEndedRun) return RUN_ENDED;
  if (loops === undefined) return PASS;
  const changed = judged.canonical === canonical ? undefined : judged.canonical;
  const { effective, hasVolatile } = argumentSignatures(tool, judged.arguments, changed);
  const target = targetSignature(tool, judged.arguments, state.toolSequence);
  if (effective !== undefined || target !== undefined)
    open.describe({ ...(effective === undefined ? {} : { effective }), ...(target === undefined ? {} : { target }) });
  return detectLoop({ history, run: state, attempt: { ...open.attempt, hasVolatile }, settings: loops, tool });
}

/** For a call that loop detection warned about and that another check refused: the model reads the advice next to the refusal. */
function advised(refusal: Refusal, loop: LoopVerdict): Refusal {
  return loop.kind === 'warn' ? { ...refusal, outcome: withAdvice(refusal.outcome, loop.message) } : refusal;
}

function blockedByLoop(block: LoopBlock): Refusal {
  return { outcome: trouble(block.code, factsOfBlock(block) as { message: string }), by: block.detector };
}

function judgeRules(
  { tool, identity }: GatedCall,
  given: JsonObject,
  { policy }: GateParts,
): { readonly asks: readonly Ask[] } | { readonly refusal: Refusal } {
  const decision = decideByRules(compileRules(policy), { tool, identity, policy, arguments: given });
  if (decision.verdict !== 'deny') return { asks: asksOf(decision) };
  const { by } = decision;
  const [rule, reason] = by === UNMATCHED ? [UNMATCHED, ''] : [by.id, by.reason ?? ''];
  return { refusal: { outcome: trouble('RULE_DENIED', { tool: tool.id, rule, reason }), by: rule } };
}

function hookRefusal(verdict: Extract<HooksVerdict, { kind: 'blocked' | 'failed' }>, { tool }: HookedCall): Refusal {
  const { hook } = verdict;
  // The error for the caller does not name a hook that failed; the event for the operator does.
  if (verdict.kind === 'failed') return { outcome: trouble('HOOK_FAILED', {}), failedHook: hook };
  const outcome =
    verdict.code === 'HOOK_BLOCKED'
      ? trouble('HOOK_BLOCKED', { hook, reason: verdict.reason })
      : trouble('HOOK_ARGUMENTS_INVALID', { hook, tool: tool.id, problems: [...verdict.problems] });
  return { outcome, by: hook };
}
