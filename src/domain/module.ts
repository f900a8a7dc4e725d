import type { ToolDeclaration } from './tool.ts';

/** A set of tools under one id, as published: data only. */
export interface ModuleDeclaration {
  readonly id: string;
  readonly description: string;
  /** Set by the module's author; a lower version never replaces a higher one in the catalog. */
  readonly version: string;
  readonly pool: string;
  readonly tools: readonly ToolDeclaration[];
  /** SHA-256 over id, version, pool and the tools' digests. */
  readonly digest: string;
}

/** A module that could not be loaded, and why. The others are served all the same. */
export interface BrokenModule {
  readonly id: string;
  readonly file: string;
  readonly reason: string;
}
