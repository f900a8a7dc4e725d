import type { JsonObject } from '../domain/json.ts';
import type { BrokenModule, ModuleDeclaration } from '../domain/module.ts';
import type { RunnerName } from '../domain/tool.ts';

/** One module instance, ready to be served. Frozen; a reload makes a new one. */
export interface LoadedModule {
  readonly declaration: ModuleDeclaration;
  readonly runner: RunnerName;
  readonly file: string;
  /** Changes with the code, stays when a reload found it unchanged. */
  readonly generation: string;
  readonly setup: JsonObject;
  /** Tool id → RE2 patterns of bare strings that mean a denial. */
  readonly denialPatterns: Readonly<Record<string, readonly string[]>>;
}

export interface LoadResult {
  readonly modules: readonly LoadedModule[];
  /** In the order they were found. Their ids are the best guess: they may never have told it. */
  readonly broken: readonly BrokenModule[];
}
