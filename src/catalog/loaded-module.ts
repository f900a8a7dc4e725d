import type { JsonObject } from '../domain/json.ts';
import type { BrokenModule, ModuleDeclaration } from '../domain/module.ts';
import type { RunnerName } from '../domain/tool.ts';
import type { ToolRunner } from '../ports/tool-runner.ts';

/** One setup of a module, ready to be served. Frozen and shared; a reload makes a new one only if something of it changed. */
export interface LoadedModule {
  readonly declaration: ModuleDeclaration;
  readonly runner: RunnerName;
  readonly file: string;
  /** Changes with the code, stays when a reload found it unchanged. */
  readonly generation: string;
  readonly setup: JsonObject;
  /** Services its tools may ask for; absent when there are none. */
  readonly needs?: readonly string[];
  /** Tool id → RE2 patterns of bare strings that mean a denial. */
  readonly denialPatterns: Readonly<Record<string, readonly string[]>>;
  /** Of the plane itself: runs its tools, instead of code from a file. */
  readonly builtIn?: ToolRunner;
}

/** Its id is the best guess, as it may never have told it, unless a manifest named it. */
export interface BrokenEntry extends BrokenModule {
  readonly named?: true;
}

export interface LoadResult {
  readonly modules: readonly LoadedModule[];
  /** In the order they were found. */
  readonly broken: readonly BrokenEntry[];
}
