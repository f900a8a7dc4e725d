import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import type { GateHooks, ResultCall, ResultVerdict } from '../../domain/ports/gate-hooks.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import type { Scrub } from '../../domain/ports/tool-runner.ts';
import { encode } from '../../base/message-pack.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';

/** What result hooks need from a run. Present only for tools with result hooks; for all other tools a run costs one lookup more. */
export interface ResultReview {
  readonly hooks: GateHooks;
  readonly changedBy: readonly ArgumentChange[];
  readonly startedAt: number;
  /** Removes the secrets of the run from what hooks write. The runner sets it as soon as the run has secrets. */
  scrub: Scrub;
}

const UNCHANGED: readonly ArgumentChange[] = Object.freeze([]);
/** Min time for hooks, even if the tool used up the call's deadline. By default, the store then waits longer before it ends the call. */
const MIN_HOOKS_MS = 1000;
/** Bytes of an encoded outcome in addition to its content: kind, flags, code, message. */
const OUTCOME_BYTES = 128;

export function reviewFor(
  { tool }: IdentifiedCall,
  changedBy: readonly ArgumentChange[] | undefined,
  { hooks }: Pick<Plane, 'hooks'>,
): ResultReview | undefined {
  if (hooks?.listens('tool_result', tool.declaration) !== true) return undefined;
  return { hooks, changedBy: changedBy ?? UNCHANGED, startedAt: performance.now(), scrub: (value) => value };
}

/**
 * Asks the operator's hooks about the result of a tool, before any of it is stored, answered or observed. Kind, `executed` and code stay
 * the tool's own. A result that no hook could check is withheld. `stop` decides the ending of a call that was stopped meanwhile.
 */
export function reviewResult(
  call: IdentifiedCall,
  own: Outcome,
  review: ResultReview,
  stop: (withheld: Ending) => MaybePromise<Ending>,
): MaybePromise<Ending> {
  if (!isOwnResult(own)) return ended(withoutKeys(own, call));
  const checks = {
    scrub: review.scrub,
    findProblem: (outcome: Outcome) => findProblem(outcome, call),
  };
  return andThen(review.hooks.result(resultCall(call, own, review), checks), (verdict) => {
    const ending = endingOf(verdict, own, call);
    return verdict.kind === 'aborted' ? stop(ending) : ending;
  });
}

/**
 * Only these outcomes contain words or data of the tool. The texts of all other outcomes are the plane's own. A tool's question
 * (INPUT_REQUIRED) is not its result.
 */
function isOwnResult({ kind, error }: Outcome): boolean {
  return kind === 'ok' || error?.code === 'TOOL_FAILED' || error?.code === 'TOOL_DENIED';
}

const UNSEEN = 'what is wrong with it is not shown, because hooks check the results of this tool';

/** If no hook could see a result, its keys must not appear in an error message either. */
function withoutKeys(own: Outcome, { tool }: IdentifiedCall): Outcome {
  const [{ executed }, { id }] = [own, tool.declaration];
  if (own.error?.code === 'RESULT_INVALID')
    return errorOutcome('RESULT_INVALID', { tool: id, problems: [UNSEEN] }, { executed });
  if (own.error?.code === 'RESULT_UNSERIALISABLE')
    return errorOutcome('RESULT_UNSERIALISABLE', { tool: id, problem: UNSEEN }, { executed });
  return own;
}

function endingOf(verdict: ResultVerdict, own: Outcome, { tool }: IdentifiedCall): Ending {
  if (verdict.kind === 'kept') return ended(own);
  if (verdict.kind === 'replaced') {
    const { outcome, changedBy } = verdict;
    return { kind: 'ended', outcome, reviewed: { own, changedBy } };
  }
  // Files and messages of the tool are withheld too.
  const facts = { tool: tool.declaration.id, hook: verdict.hook };
  const outcome = errorOutcome('HOOK_RESULT_WITHHELD', facts, { executed: own.executed });
  return { kind: 'ended', outcome, reviewed: { own, withheldBy: verdict.hook } };
}

function resultCall(call: IdentifiedCall, outcome: Outcome, { changedBy, startedAt }: ResultReview): ResultCall {
  const { admitted, envelope, identity, tool } = call;
  const { delivery, lane, arrivedAt, signal } = admitted;
  const now = performance.now();
  const leftMs = delivery.deadline - lane.now - (now - arrivedAt);
  return {
    callId: delivery.callId,
    session: delivery.session,
    run: delivery.run,
    identity,
    ...(envelope.parent === undefined ? {} : { parent: envelope.parent }),
    ...(envelope.trace === undefined ? {} : { trace: envelope.trace }),
    ...(envelope.untrusted === undefined ? {} : { untrusted: envelope.untrusted }),
    tool: tool.declaration,
    arguments: call.arguments,
    changedBy,
    outcome,
    durationMs: now - startedAt,
    signal,
    answerBy: now + Math.max(MIN_HOOKS_MS, leftMs),
  };
}

/** Checks the result that a hook wrote like the tool's own: output schema and size. Returns the problem, or undefined. */
function findProblem(outcome: Outcome, { tool }: IdentifiedCall): string | undefined {
  const { content, structured, writeBacks } = outcome;
  const { validateOutput, declaration } = tool;
  if (outcome.kind === 'ok' && validateOutput !== undefined) {
    const problems = structured === undefined ? ['it has no structured value'] : validateOutput(structured);
    // Do not report which keys are wrong: they may come from the result.
    if (problems.length > 0) return 'it does not match the output schema';
  }
  const limit = declaration.limits.maxResultBytes;
  const bytes = encode({ content, structured: structured ?? null, writeBacks: writeBacks ?? null }).byteLength;
  return bytes + OUTCOME_BYTES > limit ? `it has ${bytes + OUTCOME_BYTES} bytes; the limit is ${limit}` : undefined;
}
