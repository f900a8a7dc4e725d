import type { JsonObject } from '../../domain/json.ts';
import type { Soon } from '../../domain/soon.ts';
import type { ReadRewritten, RewrittenArguments } from '../../ports/gate-hooks.ts';
import { checkArguments, type CheckedArguments, type WrittenArguments } from '../../wire/check-arguments.ts';
import { randomId } from '../../wire/ids.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { whenHere } from '../when-here.ts';
import { readCall, withInput, type EntryPoint, type ReadCall } from './entry-points.ts';
import type { Advise } from './add-advice.ts';
import type { GatedCall, GatedTool } from './gate-parts.ts';
import { judgeCall, refuseUnchecked, type JudgedCall } from './judge-call.ts';
import { createFinish, refuse, type Finish, type Passage, type PassageNeeds } from './passage.ts';

/** Reads rewritten arguments as the tool's own schema does. */
export type ParseInput = (value: JsonObject) => Soon<ParsedInput>;
export type ParsedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface GuardedTool {
  readonly tool: GatedTool;
  readonly parse: ParseInput;
  /** The same object when no default is missing. */
  readonly fill: (value: JsonObject) => JsonObject;
  /** Rules or hooks are for it. Otherwise its calls are only counted, and whatever it takes as input is handed on. */
  readonly checked: boolean;
  readonly advise: Advise;
}

type Proceed = (parameters: unknown[], finish: Finish, waited: boolean) => unknown;

/** The function that takes the place of a tool's own. */
export function guardEntry(entry: EntryPoint, guarded: GuardedTool, needs: PassageNeeds): EntryPoint['enter'] {
  const { enter, holder } = entry;
  const guard = isTagged(enter, 'AsyncGeneratorFunction')
    ? async function* (...given: unknown[]): AsyncGenerator {
        let finish!: Finish;
        const parameters = (await pass(entry, given, guarded, needs, (checked, ended) => {
          finish = ended;
          return checked;
        })) as unknown[];
        yield* observe(enter.apply(holder, parameters) as AsyncGenerator, finish);
      }
    : (...given: unknown[]): unknown =>
        pass(entry, given, guarded, needs, (checked, finish, waited) =>
          run(() => enter.apply(holder, checked), finish, waited),
        );
  // Callers of an async function expect a rejection, those of a plain one that it throws.
  return isTagged(enter, 'AsyncFunction') ? async (...given: unknown[]) => guard(...given) : guard;
}

function pass(
  { reads }: EntryPoint,
  given: readonly unknown[],
  guarded: GuardedTool,
  needs: PassageNeeds,
  proceed: Proceed,
): unknown {
  const read = readCall(reads, given);
  const { passage, problem, sent } = begin(read, guarded, needs);
  let waited = false;
  const { call, open } = passage;
  const judging =
    problem === undefined
      ? judgeCall(call, open, readRewritten(guarded, read), needs)
      : refuseUnchecked(call, open, problem, needs);
  const passing = whenHere(judging, (verdict) => {
    if (verdict.kind !== 'allowed') throw refuse(verdict, passage, needs);
    const input = inputFor(verdict, read, sent, guarded);
    return proceed(withInput(reads, given, input), createFinish(verdict, passage, needs), waited);
  });
  waited = true;
  return passing;
}

/** With `problem` the arguments are none that could be checked. */
function begin(
  { input, callId = randomId(), signal }: ReadCall,
  guarded: GuardedTool,
  { frame }: PassageNeeds,
): { readonly passage: Passage; readonly problem?: string; readonly sent: string } {
  const { tool, checked, advise } = guarded;
  const given = checkArguments(typeof input === 'string' ? readText(input) : (input ?? {}));
  const { session, run: runId, identity, memory } = frame;
  const sent = given.ok ? given.canonical : looseText(input);
  const written = given.ok && checked ? withDefaults(given, guarded) : given;
  const canonical = written.ok ? written.canonical : sent;
  const call: GatedCall = {
    callId,
    session,
    run: runId,
    identity,
    tool,
    arguments: written.ok ? (JSON.parse(canonical) as JsonObject) : {},
    canonical,
    ...(signal === undefined ? {} : { signal }),
  };
  const open = memory.begin(tool.id, canonical);
  const passage: Passage = { call, open, startedAt: performance.now(), advise };
  if (written.ok || !checked) return { passage, sent };
  const problem = written.code === 'ENVELOPE_INVALID' ? written.facts.problem : `too many ${written.facts.what}`;
  return { passage, sent, problem: `they cannot be checked (${problem})` };
}

/** A default is data of the schema: the rules see it, and so does the tool. */
function withDefaults(written: WrittenArguments, { fill }: GuardedTool): CheckedArguments {
  const value = JSON.parse(written.canonical) as JsonObject;
  const filled = fill(value);
  return filled === value ? written : checkArguments(filled);
}

/**
 * Most frameworks apply the schema before they enter the tool, so what a hook wrote goes through it as well, and what comes out is
 * what rules judge and the tool gets. Text is handed on as text: its tool reads it itself.
 */
function readRewritten({ parse }: GuardedTool, { input }: ReadCall): ReadRewritten {
  return (value, canonical) =>
    whenHere(parse(value), (parsed): RewrittenArguments => {
      if (!parsed.ok) return { kind: 'wrong', problems: parsed.problems };
      if (typeof input === 'string')
        return { kind: 'judged', arguments: JSON.parse(canonical) as JsonObject, canonical };
      const written = checkArguments(parsed.value);
      if (!written.ok) return { kind: 'wrong', problems: ['what the schema makes of them is not JSON'] };
      const made = written.canonical;
      return { kind: 'judged', arguments: JSON.parse(made) as JsonObject, canonical: made };
    });
}

/** Tells calls apart that only loop detection looks at. What JSON cannot say is taken for another call each time. */
function looseText(input: unknown): string {
  try {
    return (JSON.stringify(input) as string | undefined) ?? randomId();
  } catch {
    return randomId();
  }
}

/** OpenAI hands functions without a parser what the model wrote. */
function readText(text: string): unknown {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/** What was judged is what runs: a copy, so that no other holder can change it any more. */
function inputFor(verdict: JudgedCall, { input }: ReadCall, sent: string, { checked }: GuardedTool): unknown {
  if (!checked) return input;
  const isSent = verdict.canonical === sent;
  if (typeof input === 'string') return isSent ? input : verdict.canonical;
  return isSent && (input === undefined || input === null) ? input : (JSON.parse(verdict.canonical) as unknown);
}

function run(enter: () => unknown, finish: Finish, waited: boolean): unknown {
  let result: unknown;
  try {
    result = enter();
  } catch (error) {
    throw finish.threw(error);
  }
  if (isAsyncIterable(result)) return waited ? readLast(observe(result, finish)) : observe(result, finish);
  if (!isThenable(result)) return finish.returned(result);
  return Promise.resolve(result).then(
    (value) => finish.returned(value),
    (error: unknown) => {
      throw finish.threw(error);
    },
  );
}

/** Hands updates on as they come; the last one is the result. A reader that stops early has cancelled the call. */
async function* observe(updates: AsyncIterable<unknown>, finish: Finish): AsyncGenerator {
  let last: unknown;
  try {
    for await (const update of updates) yield (last = update);
    const result = finish.returned(last);
    // The last update is the result, so advice makes one more.
    if (result !== last) yield result;
  } catch (error) {
    throw finish.threw(error);
  } finally {
    // Of no effect when it has ended otherwise.
    finish.threw(new Error('nobody reads on'));
  }
}

/** Whoever asked got a promise already, and takes what it resolves to for the result. */
async function readLast(updates: AsyncGenerator): Promise<unknown> {
  let last: unknown;
  for await (const update of updates) last = update;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function isTagged(enter: EntryPoint['enter'], tag: string): boolean {
  return Object.prototype.toString.call(enter) === `[object ${tag}]`;
}
