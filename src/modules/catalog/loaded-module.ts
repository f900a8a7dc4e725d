import type { JsonObject } from '../../base/json.ts';
import type { BrokenModule, ModuleDeclaration } from '../../domain/tool/module.ts';
import type { RunnerName } from '../../domain/tool/tool.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ToolRunner } from '../../domain/ports/tool-runner.ts';

/** One setup of a module, ready to be served. Frozen and shared; a reload makes a new object only if something in it changed. */
export interface LoadedModule {
  readonly declaration: ModuleDeclaration;
  readonly runner: RunnerName;
  readonly file: string;
  /** Changes with the code; stays the same if a reload found the code unchanged. */
  readonly generation: string;
  readonly setup: JsonObject;
  /** Services that its tools may use; absent if there are none. */
  readonly needs?: readonly string[];
  /** Tool id → RE2 patterns of bare strings that mean a denial. */
  readonly denialPatterns: Readonly<Record<string, readonly string[]>>;
  /** Set for a module of the plane itself: runs its tools, instead of code from a file. */
  readonly builtIn?: ToolRunner;
  /** Set for the tools of an MCP server: why a tool may not be used now, such as a definition that has changed. */
  readonly refusalOf?: (tool: ToolId) => Outcome | undefined;
}

/**
 * An entry that could not be loaded. `named` means that a manifest states its id. Otherwise the id is a guess, because the module failed
 * before it stated one.
 */
export interface BrokenEntry extends BrokenModule {
  readonly named?: true;
}

export interface LoadResult {
  readonly modules: readonly LoadedModule[];
  /** Entries that could not be loaded, in the order in which they were found. */
  readonly broken: readonly BrokenEntry[];
}
