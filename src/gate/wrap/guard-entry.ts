import type { JsonObject } from '../../base/json.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import { summariseValue, type ValueSummary } from '../../domain/events/summarise-value.ts';
import { toTraceContext } from '../../domain/call/trace-context.ts';
import type { ReadRewritten, RewrittenArguments } from '../../domain/ports/gate-hooks.ts';
import { checkArguments, type CheckedArguments, type WrittenArguments } from '../../domain/call/check-arguments.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import { readCall, withInput, type EntryPoint, type ReadCall } from './entry-points.ts';
import type { Advise } from './add-advice.ts';
import { CallSpans } from './call-spans.ts';
import { GateBlocked } from './gate-blocked.ts';
import type { GatedCall, GatedTool } from './gate-parts.ts';
import { judgeCall, refuseUnchecked, type JudgedCall } from './judge-call.ts';
import { enterAs, passedBefore, updatesAs, type StartedCall } from './nested-call.ts';
import type { CheckOutput } from './review-result.ts';
import { createFinish, refuse, type Finish, type Passage, type PassageNeeds, type Thrown } from './passage.ts';

/** Parses arguments that a hook rewrote, with the tool's own schema. */
export type ParseInput = (value: JsonObject) => MaybePromise<ParsedInput>;
export type ParsedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface GuardedTool {
  readonly tool: GatedTool;
  readonly parse: ParseInput;
  /** Fills in defaults. Returns the same object if no default is missing. */
  readonly fill: (value: JsonObject) => JsonObject;
  /**
   * True if rules or hooks apply to the tool. Otherwise its calls are only counted for loop detection, and the input is passed on
   * unchanged.
   */
  readonly checked: boolean;
  readonly advise: Advise;
  readonly checkOutput: CheckOutput;
}

type Proceed = (
  parameters: unknown[],
  startedCall: StartedCall,
  finish: Finish | undefined,
  waited: boolean,
) => unknown;

/** Makes the function that replaces a tool's own function. */
export function guardEntry(entry: EntryPoint, guarded: GuardedTool, needs: PassageNeeds): EntryPoint['enter'] {
  const { enter, holder } = entry;
  /** Identifies this guarding function. Only compared by reference. */
  const id = {};
  const guard = isTagged(enter, 'AsyncGeneratorFunction')
    ? async function* (...given: unknown[]): AsyncGenerator {
        const way = { ...entry, id };
        const updatesOf = (startedCall: StartedCall, parameters: readonly unknown[]): AsyncIterable<unknown> =>
          updatesAs(startedCall, enter.apply(holder, [...parameters]) as AsyncGenerator);
        const updates = await pass(way, given, guarded, needs, (parameters, startedCall, finish) =>
          finish === undefined
            ? updatesOf(startedCall, parameters)
            : observe(updatesOf(startedCall, parameters), finish),
        );
        yield* updates as AsyncGenerator;
      }
    : (...given: unknown[]): unknown =>
        pass({ ...entry, id }, given, guarded, needs, (parameters, startedCall, finish, waited) =>
          run(startedCall, () => enter.apply(holder, parameters), finish, waited),
        );
  // The caller of an async function expects a rejected promise for an error. The caller of a plain function expects it to throw.
  return isTagged(enter, 'AsyncFunction') ? async (...given: unknown[]) => guard(...given) : guard;
}

interface Way extends EntryPoint {
  readonly id: object;
}

function pass(
  way: Way,
  given: readonly unknown[],
  guarded: GuardedTool,
  needs: PassageNeeds,
  proceed: Proceed,
): unknown {
  const { reads, returnsErrors, id } = way;
  const read = readCall(reads, given);
  const brought = readInput(read, guarded);
  const { gate } = needs;
  const { tool, checked } = guarded;
  const sameCall = { gate, tool: tool.id, canonical: brought.canonical, ...(checked ? {} : { input: read.input }) };
  const before = passedBefore(id, sameCall);
  if (before !== undefined) {
    return proceed(withInput(reads, given, inputFor(brought, read, brought.sent, guarded)), before, undefined, false);
  }
  const passage = begin(read, brought, guarded, needs);
  let waited = false;
  const { call, open } = passage;
  const judging =
    brought.problem === undefined
      ? judgeCall(call, open, readRewritten(guarded, read), needs)
      : refuseUnchecked(call, open, brought.problem, needs);
  const passing = andThen(judging, (verdict) => {
    if (verdict.kind !== 'allowed') {
      const refused = refuse(verdict, passage, needs);
      if (returnsErrors && refused instanceof GateBlocked) return refused.message;
      throw refused;
    }
    const input = inputFor(verdict, read, brought.sent, guarded);
    const { canonical } = verdict;
    const startedCall: StartedCall = { ...sameCall, canonical, guards: new Set([id]), isOver: false };
    const finish = createFinish(verdict, passage, needs, { startedCall, returnsErrors });
    return proceed(withInput(reads, given, input), startedCall, finish, waited);
  });
  waited = true;
  return passing;
}

/** The input of a call as the checks see it. */
interface BroughtInput {
  /** What the caller sent, as canonical JSON. */
  readonly sent: string;
  /** The caller's input with the schema's defaults filled in, as canonical JSON. */
  readonly canonical: string;
  readonly arguments: JsonObject;
  readonly parameters: ValueSummary;
  /** Why the rules and hooks cannot check the arguments. */
  readonly problem?: string;
}

function readInput({ input }: ReadCall, guarded: GuardedTool): BroughtInput {
  const given = checkSafely(typeof input === 'string' ? readText(input) : (input ?? {}));
  const sent = given.ok ? given.canonical : looseText(input);
  const written = given.ok && guarded.checked ? withDefaults(given, guarded) : given;
  if (written.ok) {
    const { canonical } = written;
    const args = JSON.parse(canonical) as JsonObject;
    return { sent, canonical, arguments: args, parameters: summariseValue(args, canonical) };
  }
  const read = { sent, canonical: sent, arguments: {}, parameters: summariseValue(input) };
  if (!guarded.checked) return read;
  const problem = written.code === 'ENVELOPE_INVALID' ? written.facts.problem : `too many ${written.facts.what}`;
  return { ...read, problem: `they cannot be checked (${problem})` };
}

/** Members of the input may be code (getters, proxies). Input that throws when it is read cannot be checked. */
function checkSafely(value: unknown): CheckedArguments {
  try {
    return checkArguments(value);
  } catch {
    return { ok: false, code: 'ENVELOPE_INVALID', facts: { problem: 'a member throws when it is read' } };
  }
}

function begin(
  { callId = randomId(), signal }: ReadCall,
  { arguments: args, canonical, parameters }: BroughtInput,
  { tool, advise, checkOutput }: GuardedTool,
  { frame }: PassageNeeds,
): Passage {
  const { session, run: runId, identity, memory } = frame;
  const trace = frame.trace();
  const call: GatedCall = {
    callId,
    session,
    run: runId,
    identity,
    tool,
    arguments: args,
    canonical,
    parameters,
    ...(signal === undefined ? {} : { signal }),
    ...(trace === undefined ? {} : { trace: toTraceContext(trace).traceparent, spans: new CallSpans(trace) }),
  };
  return { call, open: memory.begin(tool.id, canonical), startedAt: performance.now(), advise, checkOutput };
}

/** Fills in the defaults of the tool's schema, so that rules judge the same values that the tool gets. */
function withDefaults(written: WrittenArguments, { fill }: GuardedTool): CheckedArguments {
  const value = JSON.parse(written.canonical) as JsonObject;
  const filled = fill(value);
  return filled === value ? written : checkArguments(filled);
}

/**
 * Parses arguments that a hook wrote, with the tool's schema: most frameworks apply the schema before they call the tool, so it has not
 * been applied to these. The rules judge what the schema returns, and the tool gets exactly that. If the caller's input is text, the tool
 * gets text and parses it itself.
 */
function readRewritten({ parse }: GuardedTool, { input }: ReadCall): ReadRewritten {
  return (value, canonical) =>
    andThen(parse(value), (parsed): RewrittenArguments => {
      if (!parsed.ok) return { kind: 'wrong', problems: parsed.problems };
      if (typeof input === 'string')
        return { kind: 'judged', arguments: JSON.parse(canonical) as JsonObject, canonical };
      const written = checkArguments(parsed.value);
      if (!written.ok) return { kind: 'wrong', problems: ['what the schema makes of them is not JSON'] };
      const made = written.canonical;
      return { kind: 'judged', arguments: JSON.parse(made) as JsonObject, canonical: made };
    });
}

/**
 * A text that distinguishes this call from others, only for loop detection. Input that JSON cannot express gets a random text, so each such
 * call counts as a different one.
 */
function looseText(input: unknown): string {
  try {
    return (JSON.stringify(input) as string | undefined) ?? randomId();
  } catch {
    return randomId();
  }
}

/**
 * Parses input that is a text: OpenAI passes the model's text unparsed to functions that have no parser. Undefined if the text is not JSON.
 */
function readText(text: string): unknown {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/**
 * Returns the input for the tool. For a checked tool it is exactly what the checks judged, and an object is a copy, so the caller and the
 * hooks cannot change it any more.
 */
function inputFor(
  verdict: Pick<JudgedCall, 'canonical'>,
  { input }: ReadCall,
  sent: string,
  { checked }: GuardedTool,
): unknown {
  if (!checked) return input;
  const isSent = verdict.canonical === sent;
  if (typeof input === 'string') return isSent ? input : verdict.canonical;
  return isSent && (input === undefined || input === null) ? input : (JSON.parse(verdict.canonical) as unknown);
}

function run(startedCall: StartedCall, enter: () => unknown, finish: Finish | undefined, waited: boolean): unknown {
  // Without `finish` this is an inner guard. The outer guard of the same call counts it and notifies observers.
  if (finish === undefined) return runInside(startedCall, enter);
  let result: unknown;
  try {
    result = enterAs(startedCall, enter);
  } catch (error) {
    return andThen(finish.threw(error), raise);
  }
  if (isAsyncIterable(result)) {
    const updates = observe(updatesAs(startedCall, result), finish);
    return waited ? readLast(updates) : updates;
  }
  if (!isThenable(result)) return finish.returned(result);
  return Promise.resolve(result).then(
    (value) => finish.returned(value),
    (error: unknown) => andThen(finish.threw(error), raise),
  );
}

function raise({ error }: Thrown): never {
  throw error;
}

/** Runs the inner function of a decorated tool. What it throws goes to its caller and is also recorded for the outer guard. */
function runInside(startedCall: StartedCall, enter: () => unknown): unknown {
  const note = (error: unknown): never => {
    startedCall.thrown = { error };
    throw error;
  };
  let result: unknown;
  try {
    result = enterAs(startedCall, enter);
  } catch (error) {
    return note(error);
  }
  if (isAsyncIterable(result)) return updatesAs(startedCall, result);
  return isThenable(result) ? Promise.resolve(result).catch(note) : result;
}

/**
 * Passes updates on as they come; the last one is the result. A reader that stops early cancels the call. If the tool has result hooks,
 * updates are held back, because they could show what the hooks would remove.
 */
async function* observe(updates: AsyncIterable<unknown>, finish: Finish): AsyncGenerator {
  let last: unknown;
  try {
    for await (const update of updates) {
      last = update;
      if (!finish.reviews) yield update;
    }
    const result = finish.reviews ? await finish.returned(last) : finish.returned(last);
    // The last update is the result, so a result that the advice changed is yielded as one more update.
    if (finish.reviews || result !== last) yield result;
  } catch (error) {
    throw (await finish.threw(error)).error;
  } finally {
    // Has no effect if the call has already ended in another way.
    finish.left();
  }
}

/** Returns only the last update. The caller was given a promise and uses its value as the result. */
async function readLast(updates: AsyncGenerator): Promise<unknown> {
  let last: unknown;
  for await (const update of updates) last = update;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return hasFunction(value, Symbol.asyncIterator);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return hasFunction(value, 'then');
}

/**
 * Whether a value has a function of this name. If reading the member throws, the answer is false: the tool's caller handles such a value as
 * it would without a gate.
 */
function hasFunction(value: unknown, name: string | symbol): boolean {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Record<string | symbol, unknown>)[name] === 'function'
    );
  } catch {
    return false;
  }
}

function isTagged(enter: EntryPoint['enter'], tag: string): boolean {
  return Object.prototype.toString.call(enter) === `[object ${tag}]`;
}
