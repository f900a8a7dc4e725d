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
import { enterAs, passedBefore, updatesAs, type EnteredCall } from './nested-call.ts';
import type { CheckOutput } from './review-result.ts';
import { createFinish, refuse, type Finish, type Passage, type PassageNeeds, type Thrown } from './passage.ts';

/** Reads rewritten arguments in the way the tool's own schema does. */
export type ParseInput = (value: JsonObject) => MaybePromise<ParsedInput>;
export type ParsedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface GuardedTool {
  readonly tool: GatedTool;
  readonly parse: ParseInput;
  /** Fills in defaults. Returns the same object if no default is missing. */
  readonly fill: (value: JsonObject) => JsonObject;
  /** Rules or hooks apply to the tool. Otherwise its calls are only counted, and its input is passed on unchanged, whatever it is. */
  readonly checked: boolean;
  readonly advise: Advise;
  readonly checkOutput: CheckOutput;
}

type Proceed = (parameters: unknown[], entered: EnteredCall, finish: Finish | undefined, waited: boolean) => unknown;

/** Makes the function that replaces a tool's own function. */
export function guardEntry(entry: EntryPoint, guarded: GuardedTool, needs: PassageNeeds): EntryPoint['enter'] {
  const { enter, holder } = entry;
  /** Identifies this function. */
  const id = {};
  const guard = isTagged(enter, 'AsyncGeneratorFunction')
    ? async function* (...given: unknown[]): AsyncGenerator {
        const way = { ...entry, id };
        const updatesOf = (entered: EnteredCall, parameters: readonly unknown[]): AsyncIterable<unknown> =>
          updatesAs(entered, enter.apply(holder, [...parameters]) as AsyncGenerator);
        const updates = await pass(way, given, guarded, needs, (parameters, entered, finish) =>
          finish === undefined ? updatesOf(entered, parameters) : observe(updatesOf(entered, parameters), finish),
        );
        yield* updates as AsyncGenerator;
      }
    : (...given: unknown[]): unknown =>
        pass({ ...entry, id }, given, guarded, needs, (parameters, entered, finish, waited) =>
          run(entered, () => enter.apply(holder, parameters), finish, waited),
        );
  // A caller of an async function expects a rejected promise; a caller of a plain function expects it to throw.
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
    const entered: EnteredCall = { ...sameCall, canonical, guards: new Set([id]), isOver: false };
    const finish = createFinish(verdict, passage, needs, { entered, returnsErrors });
    return proceed(withInput(reads, given, input), entered, finish, waited);
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
  /** Why the arguments cannot be checked. */
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

/** A default is data of the schema: the rules see it, and the tool gets it. */
function withDefaults(written: WrittenArguments, { fill }: GuardedTool): CheckedArguments {
  const value = JSON.parse(written.canonical) as JsonObject;
  const filled = fill(value);
  return filled === value ? written : checkArguments(filled);
}

/**
 * Most frameworks apply the schema before they enter the tool, so arguments that a hook wrote go through it, too. The rules judge what the
 * schema returns, and the tool gets it. Text input is passed on as text: its tool parses it itself.
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

/** A text that distinguishes calls, only for loop detection. Input that JSON cannot express counts as a different call each time. */
function looseText(input: unknown): string {
  try {
    return (JSON.stringify(input) as string | undefined) ?? randomId();
  } catch {
    return randomId();
  }
}

/** Parses text input: OpenAI passes what the model wrote to functions that have no parser. */
function readText(text: string): unknown {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/** The input that runs is the input that was judged. It is a copy, so no other holder can change it any more. */
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

function run(entered: EnteredCall, enter: () => unknown, finish: Finish | undefined, waited: boolean): unknown {
  // Without `finish` this is an inner guard: the outer guard of the same call counts and observes it.
  if (finish === undefined) return runInside(entered, enter);
  let result: unknown;
  try {
    result = enterAs(entered, enter);
  } catch (error) {
    return andThen(finish.threw(error), raise);
  }
  if (isAsyncIterable(result)) {
    const updates = observe(updatesAs(entered, result), finish);
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
function runInside(entered: EnteredCall, enter: () => unknown): unknown {
  const note = (error: unknown): never => {
    entered.thrown = { error };
    throw error;
  };
  let result: unknown;
  try {
    result = enterAs(entered, enter);
  } catch (error) {
    return note(error);
  }
  if (isAsyncIterable(result)) return updatesAs(entered, result);
  return isThenable(result) ? Promise.resolve(result).catch(note) : result;
}

/**
 * Passes updates on as they come; the last one is the result. A reader that stops early has cancelled the call. Updates of a tool that has
 * result hooks are held back: they would show what the hooks may remove.
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

/** Returns only the last update: the caller already got a promise and takes its value for the result. */
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

/** If a member of a result throws when it is read, the caller of the tool deals with that, as it would without a gate. */
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
