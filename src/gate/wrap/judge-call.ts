import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { withAdvice } from '../../domain/outcome/outcome.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import type { ReadRewritten } from '../../domain/ports/gate-hooks.ts';
import { judge, objectionOfLoop, type GateChecks, type Objection, type NoObjection } from '../judge.ts';
import { argumentSignatures, targetSignature } from '../loop/argument-signature.ts';
import { detectLoop } from '../loop/detect-loop.ts';
import { PASS, type LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { RUN_ENDED } from '../loop/loop-verdict.ts';
import { asksOf } from '../rules/asks-of.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { decideByRules } from '../rules/decide-by-rules.ts';
import { approve } from './approve.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';
import type { OpenAttempt } from './run-memory.ts';
import { reportLoop } from './emit-event.ts';

/** The arguments of a call after the hooks that ran so far, and which hooks changed them. */
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

/** Applies the checks of `judge` to a call of a wrapped tool, then asks the approver if a rule or hook wants an approval. */
export function judgeCall(
  call: GatedCall,
  open: OpenAttempt,
  read: ReadRewritten,
  parts: GateParts,
): MaybePromise<CallVerdict> {
  return andThen(judge(call, checksOf(call, open, read, parts)), (judgement) => {
    switch (judgement.kind) {
      case 'aborted':
        return { kind: 'aborted', ...argumentsOf(call) };
      case 'objection':
        return { kind: 'refused', refusal: refusalOf(judgement), ...argumentsOf(judgement.passed ?? call) };
      case 'no-objection':
        return approveIfAsked(call, open, judgement, parts);
    }
  });
}

/** Refuses arguments that cannot be checked. Like every attempt, this one counts for loop detection. */
export function refuseUnchecked(call: GatedCall, open: OpenAttempt, problem: string, parts: GateParts): CallVerdict {
  const loop = detectLoopOf(call, open, parts);
  reportLoop(call, loop, parts);
  const refusal: Refusal =
    loop.kind === 'block'
      ? refusalOf(objectionOfLoop(loop))
      : advised({ outcome: errorOutcome('ARGUMENTS_INVALID', { tool: call.tool.id, problems: [problem] }) }, loop);
  return { kind: 'refused', refusal, ...argumentsOf(call) };
}

function checksOf(call: GatedCall, open: OpenAttempt, read: ReadRewritten, parts: GateParts): GateChecks {
  const { tool, identity } = call;
  const { policy, hooks } = parts;
  return {
    detectLoop: (current) => detectLoopOf(call, open, parts, current),
    reportLoop: (loop) => reportLoop(call, loop, parts),
    decideByRules: (args) => decideByRules(compileRules(policy), { tool, identity, policy, arguments: args }),
    runHooks: () => hooks.before(call, read),
  };
}

function argumentsOf({
  arguments: args,
  canonical,
  changedBy = NO_CHANGES,
}: Pick<JudgedCall, 'arguments' | 'canonical'> & Partial<JudgedCall>): JudgedCall {
  return { arguments: args, canonical, changedBy };
}

function approveIfAsked(
  call: GatedCall,
  open: OpenAttempt,
  { loop, decision, passed }: NoObjection,
  parts: GateParts,
): MaybePromise<CallVerdict> {
  const judged = argumentsOf(passed);
  const allowed: CallVerdict = {
    kind: 'allowed',
    ...(loop.kind === 'warn' ? { advice: loop.message } : {}),
    ...judged,
  };
  // This is the last check of the stop signal before the tool is started.
  const unlessStopped = (): CallVerdict => (call.signal?.aborted === true ? { kind: 'aborted', ...judged } : allowed);
  const [first, ...rest] = [...asksOf(decision, {}), ...passed.asks];
  if (first === undefined) return unlessStopped();
  return approve(call, [first, ...rest], judged.canonical, open, parts).then((outcome) =>
    outcome === undefined ? unlessStopped() : { kind: 'refused', refusal: advised({ outcome }, loop), ...judged },
  );
}

/** Runs loop detection. `current` are the arguments after the hooks that ran so far. */
function detectLoopOf(
  { tool, canonical, arguments: given }: GatedCall,
  open: OpenAttempt,
  { loops }: GateParts,
  current: Pick<JudgedCall, 'arguments' | 'canonical'> = { arguments: given, canonical },
): LoopVerdict {
  const { history, state, inEndedRun } = open;
  if (inEndedRun) return RUN_ENDED;
  if (loops === undefined) return PASS;
  const changed = current.canonical === canonical ? undefined : current.canonical;
  const { effective, hasVolatile } = argumentSignatures(tool, current.arguments, changed);
  const target = targetSignature(tool, current.arguments, state.toolSequence);
  if (effective !== undefined || target !== undefined)
    open.describe({ ...(effective === undefined ? {} : { effective }), ...(target === undefined ? {} : { target }) });
  return detectLoop({ history, run: state, attempt: { ...open.attempt, hasVolatile }, settings: loops, tool });
}

function refusalOf({ outcome, id, hookFailed, loop }: Objection): Refusal {
  // The error for the caller does not name a hook that failed; the event for the operator does.
  return advised(hookFailed === true ? { outcome, failedHook: id } : { outcome, by: id }, loop);
}

/** Adds the advice of loop detection to a refusal by another check, so that the model reads both. */
function advised(refusal: Refusal, loop: LoopVerdict): Refusal {
  return loop.kind === 'warn' ? { ...refusal, outcome: withAdvice(refusal.outcome, loop.message) } : refusal;
}
