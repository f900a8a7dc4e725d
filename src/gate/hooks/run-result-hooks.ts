import { deepFreeze } from '../../base/deep-freeze.ts';
import type { HookFailure, ResultOutcome } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome, OutcomeError } from '../../domain/outcome/outcome.ts';
import { type MaybePromise, orElse, andThen } from '../../base/maybe-promise.ts';
import type { ResultCall, ResultChecks, ResultVerdict } from '../../domain/ports/gate-hooks.ts';
import { resultDigest } from '../../domain/outcome/result-digest.ts';
import { callHook, HookError, reportFailure, type HookCallEnding, type HookReporting } from './call-hook.ts';
import type { HookSet } from './hook-set.ts';
import type { RegisteredHook } from './registered-hook.ts';
import { readResultAnswer, showBlock, type ReplacedResult } from './result-blocks.ts';
import { startOf } from '../../base/cut-text.ts';

export type ResultNeeds = HookReporting & ResultChecks;

export const KEPT: ResultVerdict = Object.freeze({ kind: 'kept' });

interface Frame {
  readonly call: ResultCall;
  readonly needs: ResultNeeds;
  /** All facts but the outcome, as JSON text without its closing brace. Written once, parsed again for every hook. */
  facts?: string;
}

interface State {
  outcome: Outcome;
  /** True after a hook answered, even with an unchanged result. The caller then gets the content that was built from the answer. */
  isAnswered: boolean;
  readonly changedBy: string[];
}

/**
 * Calls the result hooks of a tool one after the other. Each sees the result as the hook before it left it, checked and without secrets.
 * The first hook that fails withholds the result: no later hook is called, and no part of the result is passed on.
 */
export function runResultHooks(set: HookSet, call: ResultCall, needs: ResultNeeds): MaybePromise<ResultVerdict> {
  const hooks = set.matching('tool_result', call.tool);
  return askFrom(0, hooks, { outcome: call.outcome, changedBy: [], isAnswered: false }, { call, needs });
}

function askFrom(
  first: number,
  hooks: readonly RegisteredHook[],
  state: State,
  frame: Frame,
): MaybePromise<ResultVerdict> {
  for (let index = first; index < hooks.length; index += 1) {
    const asking = ask(hooks[index]!, state, frame);
    if (asking instanceof Promise) return asking.then((verdict) => verdict ?? askFrom(index + 1, hooks, state, frame));
    if (asking !== undefined) return asking;
  }
  const { outcome, changedBy, isAnswered } = state;
  if (changedBy.length > 0) return { kind: 'replaced', outcome, changedBy };
  return isAnswered ? { kind: 'kept', isAnswered } : KEPT;
}

/** Calls one hook. Undefined: continue with the next hook. */
function ask(hook: RegisteredHook, state: State, frame: Frame): MaybePromise<ResultVerdict | undefined> {
  const { call, needs } = frame;
  if (call.signal?.aborted === true) return { kind: 'aborted', hook: hook.id };
  const startedAt = performance.now();
  let durationMs = 0;
  const withhold = (failed: { readonly how: HookFailure; readonly cause: unknown }): ResultVerdict => {
    reportFailure(hook, failed, { tool: call.tool.id, callId: call.callId, durationMs }, needs);
    return { kind: 'withheld', hook: hook.id };
  };
  const leftMs = (call.answerBy ?? Infinity) - startedAt;
  if (leftMs <= 0) {
    const cause = new HookError('timed-out', 'not asked: the hooks before it used up the time of the call');
    return withhold({ how: 'timed-out', cause });
  }
  const timeoutMs = Math.min(hook.timeoutMs, Math.max(1, Math.floor(leftMs)));
  const follow = (ending: HookCallEnding): MaybePromise<ResultVerdict | undefined> => {
    durationMs = performance.now() - startedAt;
    hook.meter.took(durationMs);
    if (ending.kind === 'aborted') return { kind: 'aborted', hook: hook.id };
    if (ending.kind === 'failed') return withhold(ending);
    return andThen(replace(hook, ending.answer, state, needs), () => undefined);
  };
  // Reading the answer may throw, and so may code of the tool's schema.
  return orElse<ResultVerdict | undefined>(
    () => andThen(callHook(hook, eventFor(state.outcome, frame), call.signal, timeoutMs), follow),
    (cause) => withhold({ how: 'invalid-answer', cause }),
  );
}

/** Replaces the result by the hook's answer. Throws or rejects if the answer cannot be used. */
function replace(hook: RegisteredHook, answer: unknown, state: State, needs: ResultNeeds): MaybePromise<void> {
  const read = readResultAnswer(answer, state.outcome.content);
  if (read === undefined) return undefined;
  const replaced = withResult(state.outcome, needs.scrub(read));
  return andThen(needs.findProblem(replaced), (problem) => {
    if (problem !== undefined) throw new HookError('invalid-answer', `the new result cannot be used: ${problem}`);
    state.isAnswered = true;
    if (resultDigest(replaced) === resultDigest(state.outcome)) return;
    hook.meter.count('changed');
    state.changedBy.push(hook.id);
    state.outcome = replaced;
  });
}

/** The outcome with the hook's content. Kind, `executed`, error code and write-backs stay those of the tool. */
function withResult(outcome: Outcome, { content, structured }: ReplacedResult): Outcome {
  const { structured: _structured, error, ...rest } = outcome;
  return {
    ...rest,
    content,
    ...(structured === undefined ? {} : { structured }),
    ...(error === undefined ? {} : { error: reworded(error, outcome, content) }),
  };
}

const MAX_MESSAGE = 2000;

/**
 * Replaces the error's message. It consists of the tool's own words, which the hook may have removed from the content. The new message is
 * the first text of the new content.
 */
function reworded(error: OutcomeError, { kind }: Outcome, content: Outcome['content']): OutcomeError {
  const text = content.find((block) => block.kind === 'text' && block.text.trim() !== '');
  const said = text?.kind === 'text' ? text.text : FIXED_MESSAGE[kind === 'denied' ? 'denied' : 'failed'];
  const message = said.length > MAX_MESSAGE ? `${startOf(said, MAX_MESSAGE)}…` : said;
  return { ...error, message, ...(error.facts === undefined ? {} : { facts: { ...error.facts, message } }) };
}

const FIXED_MESSAGE = { failed: 'The tool reported a failure.', denied: 'The tool refused.' };

function factsText({ tool, callId, session, run, identity, parent, trace, untrusted, ...rest }: ResultCall): string {
  const { arguments: ran, changedBy } = rest;
  const durationMs = Math.round(rest.durationMs * 1000) / 1000;
  const call = { callId, session, run, identity, parent, trace, untrusted };
  const facts = {
    tool: tool.id,
    effect: tool.effect,
    privileged: tool.privileged,
    arguments: ran,
    changedBy,
    durationMs,
  };
  return JSON.stringify({ ...call, ...facts }).slice(0, -1);
}

/** Builds the event of one hook by parsing text, so that no hook holds an object that another hook, or the caller, will see. */
function eventFor(outcome: Outcome, frame: Frame): unknown {
  const facts = (frame.facts ??= factsText(frame.call));
  const { kind, executed, retryable, structured, error } = outcome;
  const shown: ResultOutcome = {
    kind,
    executed,
    retryable,
    content: outcome.content.map(showBlock),
    ...(structured === undefined ? {} : { structured }),
    ...(error === undefined ? {} : { error }),
  };
  return deepFreeze(JSON.parse(`${facts},"outcome":${JSON.stringify(shown)}}`) as JsonObject);
}
