import type { JsonValue, JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import type { RunnerName } from '../../domain/tool/tool.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { endingToOutcome } from './ending-to-outcome.ts';
import type { Envelope } from '../../domain/call/call.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import { readInput } from '../../domain/call/read-input.ts';

/** A call that was identified and allowed, with everything its run needs. */
export interface ExecutableCall extends RunRequest {
  readonly runner: RunnerName;
  readonly builtIn?: ToolRunner | undefined;
  /** Present when the tool declares an output schema. */
  readonly validateOutput?: ((value: JsonValue) => readonly string[]) | undefined;
  readonly denials: readonly string[];
  /** Called once with the ending of the run and its outcome. Present while there are event listeners. */
  readonly onJudged?: ((ending: RunEnding, outcome: Outcome) => void) | undefined;
}

export interface ExecuteNeeds {
  readonly runners: Readonly<Record<RunnerName, ToolRunner>>;
}

/** Runs the tool and makes an outcome of its ending. The cause of an exception goes to the call's log, never into the outcome. */
export function runAndJudge(call: ExecutableCall, needs: ExecuteNeeds): MaybePromise<Outcome> {
  const { builtIn } = call;
  // A tool built into the plane has no code to load and no runner that checks the permit. So the permit is checked here, right before the
  // start.
  const ending =
    builtIn === undefined
      ? needs.runners[call.runner].run(call)
      : andThen(call.start?.stopFor(), (stop) => stop ?? builtIn.run(call));
  return ending instanceof Promise ? ending.then((late) => judge(late, call)) : judge(ending, call);
}

function judge(reported: RunEnding, call: ExecutableCall): Outcome {
  const ending = reported.kind === 'input-required' ? bindState(reported, call.arguments) : reported;
  if (ending.kind === 'threw') {
    call.onLog({ level: 'error', message: `The tool threw ${ending.type}.`, data: { cause: ending.cause } });
  }
  const { timeoutMs, denials, validateOutput } = call;
  const { id: tool, inputSchema } = call.tool;
  const outcome = endingToOutcome(ending, { tool, inputSchema, timeoutMs, denials, validateOutput });
  call.onJudged?.(ending, outcome);
  return outcome;
}

/** Adds the input that the caller sent. Most calls have none; the given object is then returned unchanged. */
export function withInput<Order extends RunRequest>(order: Order, { input, inputKinds }: Envelope): Order {
  if (input === undefined && inputKinds === undefined) return order;
  const { responses, state } = (input === undefined ? undefined : readInput(input)) ?? {};
  const kinds = inputKinds === undefined ? {} : { kinds: inputKinds };
  const answers = responses === undefined ? {} : { responses };
  if (state === undefined) return { ...order, input: { ...answers, ...kinds } };
  const own = unboundState(state, order.arguments);
  return { ...order, input: own === undefined ? kinds : { ...answers, ...kinds, state: own } };
}

/**
 * Prefixes the state of a tool's question with a digest of the arguments of this call. This is done here, where secrets are still
 * references.
 */
function bindState(ending: RunEnding, args: JsonObject): RunEnding {
  if (ending.kind !== 'input-required' || ending.required.state === undefined) return ending;
  return { ...ending, required: { ...ending.required, state: `${markOf(args)}${ending.required.state}` } };
}

/**
 * The state without its digest. Undefined if the digest shows that the state belongs to other arguments. The caller's answers were for
 * those arguments, so all of them are dropped and the tool asks again.
 */
function unboundState(state: string, args: JsonObject): string | undefined {
  const mark = markOf(args);
  return state.startsWith(mark) ? state.slice(mark.length) : undefined;
}

function markOf(args: JsonObject): string {
  return `${sha256(canonicalJson(args)).slice(0, 32)}.`;
}
