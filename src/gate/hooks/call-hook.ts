import type { HookContext, HookEventName, HookFailed, HookFailure } from '../../domain/policy/hook.ts';
import { type MaybePromise, isThenable } from '../../base/maybe-promise.ts';
import type { Stage } from '../../domain/call/stages.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { StopSignal } from '../../domain/ports/tool-runner.ts';
import type { RegisteredHook } from './registered-hook.ts';
import { showCause, showCauseType } from './show-cause.ts';

/**
 * A failure that the gate itself detects (`how` says which): a timeout, an invalid answer, a bad exit. Other errors are those that the hook
 * threw.
 */
export class HookError extends Error {
  override readonly name = 'HookError';
  readonly how: HookFailure;

  constructor(how: HookFailure, message: string) {
    super(message);
    this.how = how;
  }
}

export type HookCallEnding =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly how: HookFailure; readonly cause: unknown }
  /** The call itself was stopped; the hook's signal was aborted. */
  | { readonly kind: 'aborted' };

/** Calls a hook and waits for its answer, up to its timeout. Never throws. Returns synchronously if the hook does. */
export function callHook(
  hook: RegisteredHook,
  event: unknown,
  stop: StopSignal | undefined,
  timeoutMs = hook.timeoutMs,
): MaybePromise<HookCallEnding> {
  const context = new LazyContext();
  let answer: unknown;
  try {
    answer = hook.run(event, context);
    // Any thenable counts as a promise, not only a native one. Otherwise the thenable object itself would be read as the answer and
    // rejected.
    if (!isThenable(answer)) return { kind: 'answered', answer };
  } catch (thrown) {
    return failed(thrown);
  }
  return waitFor(timeoutMs, Promise.resolve(answer), context, stop);
}

function waitFor(
  timeoutMs: number,
  answering: Promise<unknown>,
  context: LazyContext,
  stop: StopSignal | undefined,
): Promise<HookCallEnding> {
  return new Promise((resolve) => {
    const end = (ending: HookCallEnding, reason?: unknown): void => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onStop);
      resolve(ending);
      if (ending.kind !== 'answered') context.abort(reason);
    };
    const onStop = (): void => end({ kind: 'aborted' }, stop?.reason);
    const timer = setTimeout(() => {
      const cause = new HookError('timed-out', `no answer within ${timeoutMs} ms`);
      end({ kind: 'failed', how: 'timed-out', cause }, cause);
    }, timeoutMs);
    // A late answer or error is ignored, but a late rejection must have a handler: it would otherwise end the process.
    answering.then(
      (answer) => end({ kind: 'answered', answer }),
      (thrown: unknown) => end(failed(thrown)),
    );
    stop?.addEventListener('abort', onStop, { once: true });
    if (stop?.aborted === true) onStop();
  });
}

function failed(cause: unknown): HookCallEnding {
  return { kind: 'failed', how: howOf(cause), cause };
}

function howOf(cause: unknown): HookFailure {
  return isHookError(cause) ? cause.how : 'threw';
}

function isHookError(cause: unknown): cause is HookError {
  try {
    return cause instanceof HookError;
  } catch {
    // `cause` is a proxy whose prototype cannot be read.
    return false;
  }
}

/** Creates the abort signal only on first use: creating one costs more than a short hook takes, and most hooks never use it. */
class LazyContext implements HookContext {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}

export interface HookReporting {
  readonly log: Log;
  /** `cause` is passed so that the listener can derive its category. Its text is only for the log. */
  readonly onEvent?: (event: HookFailed, cause: unknown) => void;
}

const STAGE_OF: Readonly<Record<HookEventName, Stage>> = {
  before_tool_call: 'gate',
  tool_result: 'execute',
  after_tool_call: 'gate',
  approval_resolved: 'gate',
};

/**
 * Reports a failed hook. This is the only place that reports the cause, and it does so only in the operator's log. An error of a result
 * hook may quote the result, so only its type is logged.
 */
export function reportFailure(
  hook: RegisteredHook,
  { how, cause }: { readonly how: HookFailure; readonly cause: unknown },
  call: { readonly tool: string; readonly callId: string; readonly durationMs: number },
  { log, onEvent }: HookReporting,
): void {
  hook.meter.failed(how);
  const facts = { hook: hook.id, on: hook.on, tool: call.tool, callId: call.callId, how };
  const shown = hook.on === 'tool_result' && !isHookError(cause) ? showCauseType(cause) : showCause(cause);
  log.error({ stage: STAGE_OF[hook.on], ...facts, cause: shown }, 'hook failed');
  try {
    onEvent?.({ type: 'hook.failed', ...facts, durationMs: call.durationMs }, cause);
  } catch (error) {
    log.warn({ hook: hook.id, cause: showCause(error) }, 'a listener of hook events threw');
  }
}
