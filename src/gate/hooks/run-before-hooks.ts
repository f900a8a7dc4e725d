import { deepFreeze } from '../../base/deep-freeze.ts';
import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import type { Ask, HookFailure } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import { type MaybePromise, orElse, andThen } from '../../base/maybe-promise.ts';
import type { HookedCall, HooksVerdict, ReadRewritten, RewrittenArguments } from '../../domain/ports/gate-hooks.ts';
import { checkArguments } from '../../domain/call/check-arguments.ts';
import { sha256 } from '../../base/sha256.ts';
import { callHook, HookError, reportFailure, type HookReporting } from './call-hook.ts';
import type { HookSet } from './hook-set.ts';
import { findDifferences, mergePatch } from './merge-patch.ts';
import { readAnswer } from './read-answer.ts';
import type { RegisteredHook } from './registered-hook.ts';

export interface BeforeNeeds extends HookReporting {
  readonly read: ReadRewritten;
}

const NO_CHANGES: readonly ArgumentChange[] = Object.freeze([]);
const NO_ASKS: readonly Ask[] = Object.freeze([]);
type Changed = Exclude<RewrittenArguments, { readonly kind: 'judged' }> | undefined;

/** The arguments and asks of the call, as the hooks that ran so far left them. */
interface State {
  arguments: JsonObject;
  canonical: string;
  changedBy: ArgumentChange[];
  asks: Ask[];
}

/**
 * Calls the hooks of a tool one after the other. Each gets its own copy of the arguments as the hook before it left them. The first block
 * ends the sequence. Returns synchronously as long as the hooks do, and at once for a tool that has none.
 */
export function runBeforeHooks(set: HookSet, call: HookedCall, needs: BeforeNeeds): MaybePromise<HooksVerdict> {
  const hooks = set.matching('before_tool_call', call.tool);
  if (hooks.length === 0) return untouched(call);
  const state: State = { arguments: call.arguments, canonical: call.canonical, changedBy: [], asks: [] };
  return askFrom(0, hooks, state, { call, facts: factsText(call), needs });
}

/** The verdict for a call without hooks: the arguments are unchanged. */
export function untouched({ arguments: given, canonical }: HookedCall): HooksVerdict {
  return { kind: 'passed', arguments: given, canonical, changedBy: NO_CHANGES, asks: NO_ASKS };
}

interface Frame {
  readonly call: HookedCall;
  readonly facts: string;
  readonly needs: BeforeNeeds;
}

function askFrom(
  first: number,
  hooks: readonly RegisteredHook[],
  state: State,
  frame: Frame,
): MaybePromise<HooksVerdict> {
  for (let index = first; index < hooks.length; index += 1) {
    if (frame.call.signal?.aborted === true) return { kind: 'aborted' };
    const asking = ask(hooks[index]!, state, frame);
    if (asking instanceof Promise) return asking.then((verdict) => verdict ?? askFrom(index + 1, hooks, state, frame));
    if (asking !== undefined) return asking;
  }
  return { kind: 'passed', ...state };
}

/** Calls one hook. Undefined: continue with the next hook. */
function ask(hook: RegisteredHook, state: State, frame: Frame): MaybePromise<HooksVerdict | undefined> {
  const { call, needs } = frame;
  const startedAt = performance.now();
  let durationMs = 0;
  const fail = (failed: { readonly how: HookFailure; readonly cause: unknown }): HooksVerdict => {
    reportFailure(hook, failed, { tool: call.tool.id, callId: call.callId, durationMs }, needs);
    return { kind: 'failed', hook: hook.id };
  };
  return andThen(callHook(hook, eventFor(state, frame), call.signal), (ending) => {
    durationMs = performance.now() - startedAt;
    hook.meter.took(durationMs);
    if (ending.kind === 'aborted') return ending;
    if (ending.kind === 'failed') return fail(ending);
    // Getters of the answer may throw, and so may code of the tool's schema.
    return orElse(
      () => obey(hook, ending.answer, state, frame),
      (cause) => fail({ how: 'invalid-answer', cause }),
    );
  });
}

function obey(
  hook: RegisteredHook,
  answer: unknown,
  state: State,
  { needs }: Frame,
): MaybePromise<HooksVerdict | undefined> {
  const read = readAnswer(answer, hook);
  if (read.kind === 'malformed') throw new HookError('invalid-answer', `the answer cannot be read: ${read.problem}`);
  if (read.kind === 'nothing') return undefined;
  if (read.kind === 'block') {
    hook.meter.count('blocked');
    return { kind: 'blocked', code: 'HOOK_BLOCKED', hook: hook.id, reason: read.reason };
  }
  const { rewrite, ask: requested } = read;
  return andThen(rewrite === undefined ? undefined : change(hook, rewrite, state, needs), (problem) => {
    if (problem?.kind === 'aborted') return problem;
    if (problem !== undefined) {
      hook.meter.count('blocked');
      return { kind: 'blocked', code: 'HOOK_ARGUMENTS_INVALID', hook: hook.id, problems: problem.problems };
    }
    if (requested !== undefined) {
      hook.meter.count('asked');
      state.asks.push(requested);
    }
    return undefined;
  });
}

/**
 * Applies one hook's rewrite and validates it at once, so that a problem names its hook and no later hook sees wrong arguments. Undefined:
 * no problem.
 */
function change(
  hook: RegisteredHook,
  { how, value }: { readonly how: 'params' | 'patch'; readonly value: JsonObject },
  state: State,
  { read }: BeforeNeeds,
): MaybePromise<Changed> {
  const written = checkArguments(how === 'params' ? value : mergePatch(state.arguments, value));
  if (!written.ok) {
    const problem = written.code === 'ENVELOPE_INVALID' ? written.facts.problem : 'they are too large';
    return { kind: 'wrong', problems: [problem] };
  }
  if (written.canonical === state.canonical) return undefined;
  return andThen(read(JSON.parse(written.canonical) as JsonObject, written.canonical), (rewritten) => {
    if (rewritten.kind !== 'judged') return rewritten;
    const { arguments: changed, canonical } = rewritten;
    // The tool's schema may have turned the rewrite back into the arguments that were there before.
    if (canonical === state.canonical) return undefined;
    hook.meter.count('changed');
    const at = findDifferences(state.arguments, changed);
    state.changedBy.push({ hook: hook.id, digest: sha256(canonical), at });
    state.arguments = changed;
    state.canonical = canonical;
    return undefined;
  });
}

/** All facts but the arguments, as JSON text without its closing brace. Written once, parsed again for every hook. */
function factsText({ tool, callId, session, run, identity, parent, trace, untrusted }: HookedCall): string {
  const facts = { callId, session, run, identity, parent, trace, untrusted };
  return JSON.stringify({ ...facts, tool: tool.id, effect: tool.effect, privileged: tool.privileged }).slice(0, -1);
}

/** Builds the event of one hook by parsing text, so that no hook holds an object that another hook, or the tool, will see. */
function eventFor({ canonical }: State, { facts }: Frame): unknown {
  return deepFreeze(JSON.parse(`${facts},"arguments":${canonical}}`) as JsonObject);
}
