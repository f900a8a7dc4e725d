import type { ArgumentChange } from '../domain/argument-change.ts';
import type { ApprovalResolved, Ask, HookedCallFacts, HookedTool, HookEventName, HookHealth } from '../domain/hook.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Soon } from '../domain/soon.ts';
import type { StopSignal } from './tool-runner.ts';

/** The operator's hooks, as a stage may use them. None of these throws or rejects. */
export interface GateHooks {
  /** Answers at once for a tool without hooks, and as long as its hooks do. */
  before(call: HookedCall, read: ReadRewritten): Soon<HooksVerdict>;
  /** Asked about what a tool gave. Answers at once for a tool without such hooks. */
  result(ended: ResultCall, checks: ResultChecks): Soon<ResultVerdict>;
  /** Returns at once; whoever settles a call says so once. */
  after(ended: EndedCall): void;
  /** Whoever claimed the callback in the store calls it, once; resolves when all hooks were told. */
  resolved(tool: HookedTool, approval: ApprovalResolved): Promise<void>;
  /** Whether any hook is for this. */
  listens(on: HookEventName, tool: HookedTool): boolean;
  /** The longest that a hook for this event may take; undefined when there is none. */
  deadlineMs(on: HookEventName): number | undefined;
  health(): HookHealth[];
  /** Whether all observers were told, within this time. */
  idle(timeoutMs: number): Promise<boolean>;
}

/** What a hook rewrote as the rules and the tool will see it, or what is wrong with it. `aborted`: the call was stopped meanwhile. */
export type RewrittenArguments =
  | { readonly kind: 'judged'; readonly arguments: JsonObject; readonly canonical: string }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }
  | { readonly kind: 'aborted' };

/** Reads rewritten arguments, given as a value and as canonical JSON, like those of a caller. */
export type ReadRewritten = (value: JsonObject, canonical: string) => Soon<RewrittenArguments>;

/** A call on its way through the gate. */
export interface HookedCall extends HookedCallFacts {
  readonly tool: HookedTool;
  readonly arguments: JsonObject;
  /** The same as canonical JSON: what hooks are shown. */
  readonly canonical: string;
  /** Aborted when the call is stopped: nobody waits for its hooks then. */
  readonly signal?: StopSignal;
}

export type HooksVerdict =
  | {
      readonly kind: 'passed';
      readonly arguments: JsonObject;
      readonly canonical: string;
      /** In the order they changed them. */
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
  /** It threw, took too long, or said something nobody can read. The cause is in the log and nowhere else. */
  | { readonly kind: 'failed'; readonly hook: string }
  | { readonly kind: 'aborted' };

/** A call whose tool gave a result that was not stored yet. */
export interface ResultCall extends EndedCall {
  /** Aborted when the call is stopped: the hooks are not waited for then. */
  readonly signal?: StopSignal;
  /** On the clock of `performance.now()`: the hooks together have answered until then, or the result is withheld. */
  readonly answerBy?: number;
}

/** What is done with the answer of each hook, before the next one sees it. */
export interface ResultChecks {
  /** Takes the secrets of the call out of what a hook wrote. */
  scrub<Value>(value: Value): Value;
  /** Why the call cannot end with this; names places, never values. */
  findProblem(outcome: Outcome): Soon<string | undefined>;
}

export type ResultVerdict =
  /** `isAnswered`: a hook answered with what was there. */
  | { readonly kind: 'kept'; readonly isAnswered?: boolean }
  | {
      readonly kind: 'replaced';
      /** With the content and the structured value of the hooks, everything else as the tool gave it. */
      readonly outcome: Outcome;
      /** In the order they changed it. */
      readonly changedBy: readonly string[];
    }
  /** It threw, took too long, or answered what cannot be used. The cause is in the log and nowhere else. */
  | { readonly kind: 'withheld'; readonly hook: string }
  | { readonly kind: 'aborted'; readonly hook: string };

/** A call that has its outcome. */
export interface EndedCall extends HookedCallFacts {
  readonly tool: HookedTool;
  /** The effective ones. */
  readonly arguments: JsonObject;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: Outcome;
  readonly durationMs: number;
}
