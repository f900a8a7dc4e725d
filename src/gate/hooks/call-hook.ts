import type { HookContext, HookEventName, HookFailed, HookFailure } from '../../domain/hook.ts';
import type { Soon } from '../../domain/soon.ts';
import type { Stage } from '../../domain/stages.ts';
import type { Log } from '../../ports/log.ts';
import type { StopSignal } from '../../ports/tool-runner.ts';
import type { RegisteredHook } from './registered-hook.ts';
import { showCause, showCauseType } from './show-cause.ts';

/** Trouble that is told by its own word, and not as something the hook threw. */
export class HookTrouble extends Error {
  override readonly name = 'HookTrouble';
  readonly how: HookFailure;

  constructor(how: HookFailure, message: string) {
    super(message);
    this.how = how;
  }
}

export type HookCallEnding =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly how: HookFailure; readonly cause: unknown }
  /** The call itself was stopped; the hook is told so. */
  | { readonly kind: 'aborted' };

/** Enters a hook and waits for it, up to its deadline. Never throws; answers at once when the hook does. */
export function callHook(
  hook: RegisteredHook,
  event: unknown,
  stop: StopSignal | undefined,
  timeoutMs = hook.timeoutMs,
): Soon<HookCallEnding> {
  const context = new LazyContext();
  let answer: unknown;
  try {
    answer = hook.run(event, context);
    // Any promise, not only ours: one taken for an answer would be refused, though the hook did nothing wrong.
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
      const cause = new HookTrouble('timed-out', `no answer within ${timeoutMs} ms`);
      end({ kind: 'failed', how: 'timed-out', cause }, cause);
    }, timeoutMs);
    // What it answers or throws too late is heard by nobody, but must not end the process either.
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
  return isTrouble(cause) ? cause.how : 'threw';
}

function isTrouble(cause: unknown): cause is HookTrouble {
  try {
    return cause instanceof HookTrouble;
  } catch {
    // A proxy that does not even tell its prototype.
    return false;
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** A signal costs more than a short hook; most never look at it. */
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
  /** The cause is given for its category only: its text is for the log. */
  readonly onEvent?: (event: HookFailed, cause: unknown) => void;
}

const STAGE_OF: Readonly<Record<HookEventName, Stage>> = {
  before_tool_call: 'gate',
  tool_result: 'execute',
  after_tool_call: 'gate',
  approval_resolved: 'gate',
};

/** The one place where a cause is told, and only to the operator. An error of a result hook may quote the result: only its type is logged. */
export function reportFailure(
  hook: RegisteredHook,
  { how, cause }: { readonly how: HookFailure; readonly cause: unknown },
  call: { readonly tool: string; readonly callId: string; readonly durationMs: number },
  { log, onEvent }: HookReporting,
): void {
  hook.meter.failed(how);
  const facts = { hook: hook.id, on: hook.on, tool: call.tool, callId: call.callId, how };
  const shown = hook.on === 'tool_result' && !isTrouble(cause) ? showCauseType(cause) : showCause(cause);
  log.error({ stage: STAGE_OF[hook.on], ...facts, cause: shown }, 'hook failed');
  try {
    onEvent?.({ type: 'hook.failed', ...facts, durationMs: call.durationMs }, cause);
  } catch (error) {
    log.warn({ hook: hook.id, cause: showCause(error) }, 'a listener of hook events threw');
  }
}
