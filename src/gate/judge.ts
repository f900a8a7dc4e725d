import { errorOutcome } from '../domain/errors/errors.ts';
import type { ToolId } from '../domain/identity/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import { UNMATCHED, type RuleDecision } from '../domain/policy/rule-decision.ts';
import { type MaybePromise, andThen } from '../base/maybe-promise.ts';
import type { HooksVerdict } from '../domain/ports/gate-hooks.ts';
import { type LoopBlock, type LoopVerdict, type LoopWarning } from '../domain/policy/loop-verdict.ts';
import { factsOfBlock } from './loop/loop-verdict.ts';

/** A call's tool, and its arguments as a value and as canonical JSON. */
export interface JudgedCall {
  readonly tool: { readonly id: ToolId };
  readonly arguments: JsonObject;
  readonly canonical: string;
}

/**
 * The checks of one call. The worker and the library supply different functions, because their histories and event listeners differ.
 * `judge` calls them in the same order for both.
 */
export interface GateChecks {
  detectLoop(current: Pick<JudgedCall, 'arguments' | 'canonical'>): LoopVerdict;
  /** Emits the event for a warning or a block. */
  reportLoop(loop: LoopWarning | LoopBlock): void;
  decideByRules(args: JsonObject): RuleDecision;
  /** Absent if there are no hooks. */
  readonly runHooks?: (() => MaybePromise<HooksVerdict>) | undefined;
}

export type PassedHooks = Extract<HooksVerdict, { kind: 'passed' }>;

/** No check refuses the call. Rules and hooks may still ask for an approver: `decision` and `passed` contain their questions. */
export interface NoObjection {
  readonly kind: 'no-objection';
  readonly loop: LoopVerdict;
  readonly decision: RuleDecision;
  readonly passed: PassedHooks;
}

export interface Objection {
  readonly kind: 'objection';
  readonly by: 'loop' | 'budget' | 'rule' | 'hook';
  /** Id of the detector, rule or hook that refuses the call. */
  readonly id: string;
  /** The hook failed or timed out. The caller's outcome does not name the hook; events do. */
  readonly hookFailed?: true;
  readonly outcome: Outcome;
  /** If loop detection warned, the model reads the warning together with the refusal. */
  readonly loop: LoopVerdict;
  /** The arguments at this point, if hooks changed them. */
  readonly passed?: PassedHooks;
}

/** `aborted`: the call was stopped while its hooks ran. */
export type Judgement = NoObjection | Objection | { readonly kind: 'aborted' };

/**
 * The checks of a call before its tool runs, in order: loop detection, rules, hooks; then loop detection and rules again if hooks changed
 * the arguments, because the first answers were about other arguments. The first refusal ends it. Returns synchronously if the tool has no
 * hooks, or if they all answer synchronously.
 */
export function judge(call: JudgedCall, checks: GateChecks): MaybePromise<Judgement> {
  const loop = checks.detectLoop(call);
  if (loop.kind !== 'pass') checks.reportLoop(loop);
  if (loop.kind === 'block') return objectionOfLoop(loop);
  const decision = checks.decideByRules(call.arguments);
  if (decision.verdict === 'deny') return objectionOfRule(call, decision, loop);
  if (checks.runHooks === undefined) return { kind: 'no-objection', loop, decision, passed: unchanged(call) };
  return andThen(checks.runHooks(), (hooked) => afterHooks(call, loop, decision, hooked, checks));
}

/** The verdict of hooks that change nothing and ask nothing. */
export function unchanged({ arguments: args, canonical }: Omit<JudgedCall, 'tool'>): PassedHooks {
  return { kind: 'passed', arguments: args, canonical, changedBy: [], asks: [] };
}

export function objectionOfRule(
  { tool }: Pick<JudgedCall, 'tool'>,
  { by }: RuleDecision,
  loop: LoopVerdict,
): Objection {
  const [rule, reason] = by === UNMATCHED ? [UNMATCHED, ''] : [by.id, by.reason ?? ''];
  const outcome = errorOutcome('RULE_DENIED', { tool: tool.id, rule, reason });
  return { kind: 'objection', by: 'rule', id: rule, outcome, loop };
}

export function objectionOfLoop(loop: LoopBlock): Objection {
  const outcome = errorOutcome(loop.code, factsOfBlock(loop) as { message: string });
  return { kind: 'objection', by: loop.code === 'BUDGET_SPENT' ? 'budget' : 'loop', id: loop.detector, outcome, loop };
}

function afterHooks(
  call: JudgedCall,
  loop: LoopVerdict,
  decision: RuleDecision,
  hooked: HooksVerdict,
  checks: GateChecks,
): Judgement {
  switch (hooked.kind) {
    case 'aborted':
      return hooked;
    case 'failed': {
      const outcome = errorOutcome('HOOK_FAILED', {});
      return { kind: 'objection', by: 'hook', id: hooked.hook, hookFailed: true, outcome, loop };
    }
    case 'blocked':
      return { kind: 'objection', by: 'hook', id: hooked.hook, outcome: blockedByHook(call, hooked), loop };
    case 'passed':
      return hooked.canonical === call.canonical
        ? { kind: 'no-objection', loop, decision, passed: hooked }
        : judgeChanged(call, loop, hooked, checks);
  }
}

function blockedByHook({ tool }: JudgedCall, blocked: Extract<HooksVerdict, { kind: 'blocked' }>): Outcome {
  const { hook } = blocked;
  return blocked.code === 'HOOK_BLOCKED'
    ? errorOutcome('HOOK_BLOCKED', { hook, reason: blocked.reason })
    : errorOutcome('HOOK_ARGUMENTS_INVALID', { hook, tool: tool.id, problems: [...blocked.problems] });
}

/**
 * A call gets at most one warning. A warning about the changed arguments is used only if there was none about the caller's own arguments.
 */
function judgeChanged(call: JudgedCall, first: LoopVerdict, passed: PassedHooks, checks: GateChecks): Judgement {
  const again = checks.detectLoop(passed);
  if (again.kind === 'block' || (again.kind === 'warn' && first.kind !== 'warn')) checks.reportLoop(again);
  if (again.kind === 'block') return { ...objectionOfLoop(again), passed };
  const loop = first.kind === 'warn' ? first : again;
  const decision = checks.decideByRules(passed.arguments);
  if (decision.verdict === 'deny') return { ...objectionOfRule(call, decision, loop), passed };
  return { kind: 'no-objection', loop, decision, passed };
}
