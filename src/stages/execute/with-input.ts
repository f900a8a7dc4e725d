import type { Envelope } from '../../domain/call/call.ts';
import type { JsonObject } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import { readInput } from '../../domain/call/read-input.ts';
import type { RunEnding, RunRequest } from '../../domain/ports/tool-runner.ts';

/** Adds the input that the caller sent. Most calls have none, and then the same object is returned. */
export function withInput<Order extends RunRequest>(order: Order, { input, inputKinds }: Envelope): Order {
  if (input === undefined && inputKinds === undefined) return order;
  const { responses, state } = (input === undefined ? undefined : readInput(input)) ?? {};
  const kinds = inputKinds === undefined ? {} : { kinds: inputKinds };
  const answers = responses === undefined ? {} : { responses };
  if (state === undefined) return { ...order, input: { ...answers, ...kinds } };
  const own = unboundState(state, order.arguments);
  return { ...order, input: own === undefined ? kinds : { ...answers, ...kinds, state: own } };
}

/** Prefixes the state with a digest of the arguments it was made for. This is done here, where secrets are still references. */
export function bindState(ending: RunEnding, args: JsonObject): RunEnding {
  if (ending.kind !== 'input-required' || ending.required.state === undefined) return ending;
  return { ...ending, required: { ...ending.required, state: `${markOf(args)}${ending.required.state}` } };
}

/** Undefined for a state of other arguments: those answers say nothing about these arguments, so the tool asks again. */
function unboundState(state: string, args: JsonObject): string | undefined {
  const mark = markOf(args);
  return state.startsWith(mark) ? state.slice(mark.length) : undefined;
}

function markOf(args: JsonObject): string {
  return `${sha256(canonicalJson(args)).slice(0, 32)}.`;
}
