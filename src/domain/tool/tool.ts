import type { ToolId } from '../identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Surface } from './surface.ts';

/**
 * What a second run would do. `read`: nothing. `idempotent`: the same as one run.
 * `unsafe`: something else; such a tool is never started twice for one call.
 */
export const EFFECTS = ['read', 'idempotent', 'unsafe'] as const;
export type Effect = (typeof EFFECTS)[number];

/**
 * Where a tool runs. `inline`: in the worker's own process. `process`: in a child process that serves one module's calls, one after
 * another. `process-per-call`: in a child process that ends with its call.
 */
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
  /** True for a shell, code execution and anything unsandboxed. Such a tool is closed unless the policy names it. */
  readonly privileged: boolean;
  /** True if the calls of one subject to this tool run one at a time, in the order in which they were accepted. */
  readonly serial: boolean;
  /** The tool runs in the caller's process, never on a fleet worker. */
  readonly pinned?: 'caller';
  /**
   * The code of the tool's schema may change arguments. The runner lets it parse them once, before the rules, and all later steps use the
   * result.
   */
  readonly normalises?: true;
  /**
   * The library in which the tool's schema is written (a strict object of zod, for example) refuses members that the schema neither
   * declares nor allows with `additionalProperties`. Absent: only the published JSON Schema decides which members are accepted.
   */
  readonly refusesUndeclared?: true;
  /** The tool was published by an MCP server, and no operator has reviewed it yet. A person is asked about each call. */
  readonly unreviewed?: true;
  /** Secrets that the tool may get: names, or `PREFIX_*`. With the prefix `own:`, its arguments may not refer to them. Absent: none. */
  readonly secrets?: readonly string[];
  readonly limits: ToolLimits;
  /**
   * The tool is made to be called again and again. Calls that are no faster than this are not taken for a loop, unless earlier equal calls
   * are still under way.
   */
  readonly poll?: ToolPoll;
  /**
   * JSON pointers into the structured result. A change in what they name is progress; a change elsewhere is not. An empty list: nothing is
   * progress.
   */
  readonly progress?: readonly string[];
  /** Cost of one call for the budget of its run, unless the call counts its own with `ctx.cost`. The deployment defines the unit. */
  readonly cost?: number;
  /** Present if the entry is a resource or a prompt and not a tool. Such an entry is never in `tools` of a module. */
  readonly surface?: Surface;
  /** SHA-256 over what callers are shown of the tool: see `toolDigest`. */
  readonly digest: string;
}

export interface ToolPoll {
  readonly everyMs: number;
}

export interface ToolLimits {
  /** Max duration of one run. Then the run is aborted, killed where possible, and answered `timed-out`. */
  readonly timeoutMs: number;
  /** Max number of starts of one call, for `read` and `idempotent` tools. `unsafe` tools are started once. */
  readonly maxAttempts: number;
  /** How long a waiter waits before it gets `pending`. */
  readonly waitMs: number;
  /** Max runs at the same time in one worker. Absent: the worker's own limit. */
  readonly concurrency?: number;
  /** Max bytes of the encoded outcome with all its write-backs. */
  readonly maxResultBytes: number;
}

export const DEFAULT_LIMITS: ToolLimits = Object.freeze({
  timeoutMs: 60_000,
  maxAttempts: 3,
  waitMs: 10_000,
  maxResultBytes: 16 * 1024 * 1024,
});
