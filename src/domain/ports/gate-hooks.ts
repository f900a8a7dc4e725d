import type { ArgumentChange } from '../call/argument-change.ts';
import type { ApprovalResolved, Ask, HookedCallFacts, HookedTool, HookEventName, HookHealth } from '../policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { StopSignal } from './tool-runner.ts';

/** The operator's hooks, as the stages use them. None of these methods throws or rejects. */
export interface GateHooks {
  /** Answers at once for a tool without hooks; otherwise takes as long as its hooks take. */
  before(call: HookedCall, read: ReadRewritten): MaybePromise<HooksVerdict>;
  /** Asks hooks about the result of a tool. Answers at once for a tool without result hooks. */
  result(ended: ResultCall, checks: ResultChecks): MaybePromise<ResultVerdict>;
  /** Notifies the `after_tool_call` hooks. Returns at once. Called once per call, by the worker that settled it. */
  after(ended: EndedCall): void;
  /**
   * Notifies the `approval_resolved` hooks. Called once per approval, by the worker that claimed its callback in the store. Resolves when
   * all hooks were called.
   */
  resolved(tool: HookedTool, approval: ApprovalResolved): Promise<void>;
  /** Whether any hook is registered for this event and tool. */
  listens(on: HookEventName, tool: HookedTool): boolean;
  /** The longest timeout among the hooks for this event; undefined when there is none. */
  deadlineMs(on: HookEventName): number | undefined;
  health(): HookHealth[];
  /** Waits until all observers were called, for at most this time. Resolves to false if some were not. */
  idle(timeoutMs: number): Promise<boolean>;
}

/**
 * The result of checking arguments that a hook rewrote. `judged`: valid, in the form in which the rules and the tool will see them.
 * `wrong`: not valid. `aborted`: the call was stopped during the check.
 */
export type RewrittenArguments =
  | { readonly kind: 'judged'; readonly arguments: JsonObject; readonly canonical: string }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }
  | { readonly kind: 'aborted' };

/** Checks rewritten arguments, given as a value and as canonical JSON, in the same way as those of a caller. */
export type ReadRewritten = (value: JsonObject, canonical: string) => MaybePromise<RewrittenArguments>;

/** A call that the gate checks, as `before_tool_call` hooks see it. */
export interface HookedCall extends HookedCallFacts {
  readonly tool: HookedTool;
  readonly arguments: JsonObject;
  /** The arguments as canonical JSON. The first hook gets a copy that is parsed from this text. */
  readonly canonical: string;
  /** Aborted when the call is stopped. The gate then no longer waits for the hooks. */
  readonly signal?: StopSignal;
}

export type HooksVerdict =
  | {
      readonly kind: 'passed';
      readonly arguments: JsonObject;
      readonly canonical: string;
      /** In the order in which hooks changed the arguments. */
      readonly changedBy: readonly ArgumentChange[];
      readonly asks: readonly Ask[];
    }
  | { readonly kind: 'blocked'; readonly code: 'HOOK_BLOCKED'; readonly hook: string; readonly reason: string }
  | {
      readonly kind: 'blocked';
      readonly code: 'HOOK_ARGUMENTS_INVALID';
      readonly hook: string;
      readonly problems: readonly string[];
    }
  /** The hook threw, timed out, or returned something unreadable. The cause is in the log only. */
  | { readonly kind: 'failed'; readonly hook: string }
  | { readonly kind: 'aborted' };

/** A call whose tool returned a result that is not stored yet. */
export interface ResultCall extends EndedCall {
  /** Aborted when the call is stopped. The worker then no longer waits for the hooks. */
  readonly signal?: StopSignal;
  /** Time limit for all hooks together, on the clock of `performance.now()`. If they have not answered by then, the result is withheld. */
  readonly answerBy?: number;
}

/** Checks applied to the answer of each hook, before the next one sees it. */
export interface ResultChecks {
  /** Removes the secrets of the call from what a hook wrote. */
  scrub<Value>(value: Value): Value;
  /** Why the call cannot end with this outcome; names places, never values. */
  findProblem(outcome: Outcome): MaybePromise<string | undefined>;
}

export type ResultVerdict =
  /** `isAnswered`: at least one hook answered, and its answer was the unchanged result. Absent: no hook answered. */
  | { readonly kind: 'kept'; readonly isAnswered?: boolean }
  | {
      readonly kind: 'replaced';
      /** Content and structured value as the hooks left them; all other fields as the tool returned them. */
      readonly outcome: Outcome;
      /** In the order in which hooks changed the result. */
      readonly changedBy: readonly string[];
    }
  /** The hook threw, timed out, or returned an unusable answer. The cause is in the log only. */
  | { readonly kind: 'withheld'; readonly hook: string }
  | { readonly kind: 'aborted'; readonly hook: string };

/** A call with its outcome, for result hooks and observers. */
export interface EndedCall extends HookedCallFacts {
  readonly tool: HookedTool;
  /** The arguments that ran, after all changes. */
  readonly arguments: JsonObject;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: Outcome;
  readonly durationMs: number;
}
