import { ended, type Ending } from '../domain/call/ending.ts';
import { errorOutcome } from '../domain/errors/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { type MaybePromise, andThen } from '../base/maybe-promise.ts';
import type { RewrittenArguments } from '../domain/ports/gate-hooks.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { IdentifiedCall } from '../domain/ports/staged-calls.ts';
import type { RunEnding } from '../domain/ports/tool-runner.ts';
import { checkArguments } from '../domain/call/check-arguments.ts';

/** The arguments in the form that rules, hooks, approvers, the audit and the tool all see. */
export interface JudgedArguments {
  readonly kind: 'judged';
  readonly arguments: JsonObject;
  /** `arguments` as canonical JSON. */
  readonly canonical: string;
}

/** A call whose arguments have not been checked and completed yet. */
type UnjudgedCall = Pick<IdentifiedCall, 'admitted' | 'identity' | 'tool'>;

type Needs = Pick<Plane, 'runners' | 'store' | 'log'>;

/**
 * Turns arguments that a caller, a hook or an approver wrote into the ones that the rules judge. They must match the published schema, and
 * the schema's defaults are filled in. For a tool that normalises, the runner applies the tool's own schema instead, before anything is
 * decided.
 */
export function judgedArguments(
  call: UnjudgedCall,
  given: JsonObject,
  canonical: string,
  needs: Needs,
): MaybePromise<JudgedArguments | Ending> {
  const { declaration, validateInput, fillDefaults } = call.tool;
  const problems = validateInput(given);
  if (problems.length > 0) return ended(errorOutcome('ARGUMENTS_INVALID', { tool: declaration.id, problems }));
  if (declaration.normalises === true) return normalise(call, given, needs);
  const filled = fillDefaults?.(given) ?? given;
  if (filled === given) return { kind: 'judged', arguments: given, canonical };
  // A default value does not have to match the schema that declares it, so the filled arguments are checked again.
  const wrong = validateInput(filled);
  return wrong.length > 0
    ? ended(errorOutcome('ARGUMENTS_INVALID', { tool: declaration.id, problems: wrong }))
    : written(call, filled);
}

/**
 * Checks arguments that a hook rewrote, as `judgedArguments` does. An error that would end the call is returned as a problem of the
 * rewrite. If the call was stopped meanwhile, the result is `aborted`.
 */
export function readRewritten(
  call: UnjudgedCall,
  given: JsonObject,
  canonical: string,
  needs: Needs,
): MaybePromise<RewrittenArguments> {
  return andThen(judgedArguments(call, given, canonical, needs), (judged) => {
    if (judged.kind === 'judged') return judged;
    if (judged.kind !== 'ended' || call.admitted.signal.aborted) return { kind: 'aborted' };
    const { error } = judged.outcome;
    const problems = error?.code === 'ARGUMENTS_INVALID' ? error.facts?.['problems'] : undefined;
    return {
      kind: 'wrong',
      problems: Array.isArray(problems) ? (problems as string[]) : [error?.message ?? 'it ended without an error'],
    };
  });
}

/**
 * A call is rejected after this many deliveries whose worker was lost. If the schema crashes its worker, every delivery would crash another
 * worker. The start mark does not prevent that: it is written later, after the rules, and protects only against crashes of the tool's code.
 */
const MAX_LOST_DELIVERIES = 3;

function normalise(call: UnjudgedCall, given: JsonObject, needs: Needs): MaybePromise<JudgedArguments | Ending> {
  const { admitted, identity, tool } = call;
  const { delivery, signal, now } = admitted;
  if (delivery.lostDeliveries >= MAX_LOST_DELIVERIES) {
    return ended(errorOutcome('TOOL_POISONOUS', { tool: tool.declaration.id, starts: delivery.lostDeliveries }));
  }
  const timeoutMs = Math.max(1, Math.round(Math.min(tool.declaration.limits.timeoutMs, delivery.deadline - now)));
  const runner = tool.builtIn ?? needs.runners[tool.runner];
  const ending = runner.run({
    step: 'normalise',
    tool: tool.declaration,
    source: tool.source,
    callId: delivery.callId,
    fence: delivery.fence,
    identity,
    session: delivery.session,
    run: delivery.run,
    arguments: given,
    untrusted: {},
    setup: tool.setup,
    timeoutMs,
    signal,
    onProgress: () => undefined,
    onLog: () => undefined,
    onNestedCall: () => Promise.reject(new Error('A schema makes no calls.')),
  });
  return andThen(ending, (received) => readEnding(call, received, timeoutMs, needs));
}

/**
 * Converts the runner's answer about the schema into the judged arguments, or into the ending of the call. The tool's own code was not
 * started, so a call that ends here counts as not executed, whatever code the schema ran.
 */
function readEnding(
  call: UnjudgedCall,
  ending: RunEnding,
  timeoutMs: number,
  needs: Needs,
): MaybePromise<JudgedArguments | Ending> {
  const { id } = call.tool.declaration;
  switch (ending.kind) {
    case 'normalised':
      return read(call, ending.arguments);
    case 'not-json':
      return ended(errorOutcome('ARGUMENTS_NOT_JSON', { tool: id, problem: ending.problem }));
    case 'invalid-arguments':
      return ended(errorOutcome('ARGUMENTS_INVALID', { tool: id, problems: [...ending.problems] }));
    case 'not-run':
      return ended(ending.outcome);
    case 'timed-out':
      return ended(errorOutcome('TOOL_TIMED_OUT', { tool: id, afterMs: timeoutMs }));
    case 'aborted':
      return stopped(call, needs);
    case 'threw': {
      const { callId } = call.admitted.delivery;
      const facts = { stage: 'identify', callId, tool: id, cause: ending.cause };
      needs.log.error(facts, `The schema of the tool threw ${ending.type}.`);
      return ended(errorOutcome('TOOL_THREW', { tool: id, type: ending.type }));
    }
    case 'crashed':
      return ended(errorOutcome('TOOL_CRASHED', { tool: id, how: ending.how }));
    default:
      return ended(errorOutcome('TOOL_CRASHED', { tool: id, how: 'protocol: an unknown ending' }));
  }
}

/** Parses the runner's text again and checks it: the text may come from a process that the tool's code shares. */
function read(call: UnjudgedCall, text: string): JudgedArguments | Ending {
  try {
    return written(call, JSON.parse(text) as JsonObject);
  } catch {
    return ended(errorOutcome('ARGUMENTS_NOT_JSON', { tool: call.tool.declaration.id, problem: 'it cannot be read' }));
  }
}

/** Checks a value against the limits for arguments and returns it in canonical form. */
function written({ tool }: UnjudgedCall, value: JsonObject): JudgedArguments | Ending {
  const checked = checkArguments(value);
  if (checked.ok) {
    const { canonical } = checked;
    return { kind: 'judged', arguments: JSON.parse(canonical) as JsonObject, canonical };
  }
  const { facts } = checked;
  const problem = 'problem' in facts ? facts.problem : `${facts.is} ${facts.what}; the limit is ${facts.limit}`;
  return ended(errorOutcome('ARGUMENTS_NOT_JSON', { tool: tool.declaration.id, problem }));
}

/**
 * Ends a call that was stopped before its tool was started. If this worker is draining, the call is given back to the store for another
 * worker. Safe to call twice: the store accepts it back only once, so the second attempt returns `lost`.
 */
export async function stopped(
  { admitted: { delivery, signal } }: Pick<UnjudgedCall, 'admitted'>,
  { store }: Pick<Needs, 'store'>,
): Promise<Ending> {
  if (signal.reason === 'lost') return { kind: 'lost' };
  if (signal.reason !== 'draining') return ended(errorOutcome('CALL_CANCELLED', {}));
  const answer = await store.abandonCall({ ...delivery, handedBack: false });
  return answer === 'abandoned' ? { kind: 'handed-back' } : { kind: 'lost' };
}
