import type { ToolId } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { Surface } from './surface.ts';

/**
 * What a second run would do. `read`: nothing. `idempotent`: the same as one run.
 * `unsafe`: something else; such a tool is never started twice for one call.
 */
export const EFFECTS = ['read', 'idempotent', 'unsafe'] as const;
export type Effect = (typeof EFFECTS)[number];

/** `process`: a child process that serves one module's calls, one after another. `process-per-call`: one that ends with its call. */
export const RUNNERS = ['inline', 'process', 'process-per-call'] as const;
export type RunnerName = (typeof RUNNERS)[number];

/** A tool as published: data only. The code stays in the worker. */
export interface ToolDeclaration {
  readonly id: ToolId;
  readonly description: string;
  /** JSON Schema 2020-12; its root type is `object`. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly effect: Effect;
  /** Shell, code execution, anything unsandboxed: closed unless the policy names it. */
  readonly privileged: boolean;
  /** Starts in accept order, one at a time per subject. */
  readonly serial: boolean;
  /** Runs in the caller's process, never on a fleet worker. */
  readonly pinned?: 'caller';
  /** The code of its schema may change arguments: its runner parses them once, before the rules, and everything after sees the result. */
  readonly normalises?: true;
  /** Secrets it may be given: names, or `PREFIX_*`; with `own:` before it, not by its arguments. Absent: none. */
  readonly secrets?: readonly string[];
  readonly limits: ToolLimits;
  /** Made to be asked again and again. Not faster than this, it is never taken for a loop. */
  readonly poll?: ToolPoll;
  /** JSON pointers into the structured result: what they name is progress when it changes, the rest is not. None: nothing is. */
  readonly progress?: readonly string[];
  /** Of one call, for the budget of its run, unless the call counts its own with `ctx.cost`. The unit is the deployment's. */
  readonly cost?: number;
  /** Present: no tool but a resource or a prompt. It is never in `tools` of a module. */
  readonly surface?: Surface;
  /** SHA-256 over what the caller was shown: see `wire/digest.ts`. */
  readonly digest: string;
}

export interface ToolPoll {
  readonly everyMs: number;
}

export interface ToolLimits {
  /** One run may take so long; then it is aborted, killed where possible, and answered `timed-out`. */
  readonly timeoutMs: number;
  /** Starts in all, for `read` and `idempotent` tools. `unsafe` tools have one. */
  readonly maxAttempts: number;
  /** How long a waiter waits before it gets `pending`. */
  readonly waitMs: number;
  /** Runs at the same time in one worker; absent means the worker's own bound. */
  readonly concurrency?: number;
  /** Outcome with all its write-backs, encoded. */
  readonly maxResultBytes: number;
}

export const DEFAULT_LIMITS: ToolLimits = Object.freeze({
  timeoutMs: 60_000,
  maxAttempts: 3,
  waitMs: 10_000,
  maxResultBytes: 16 * 1024 * 1024,
});
