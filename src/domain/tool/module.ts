import type { Surface } from './surface.ts';
import type { ToolDeclaration } from './tool.ts';

/** An entry of the catalog that is a resource or a prompt. */
export type SurfaceDeclaration = ToolDeclaration & { readonly surface: Surface };

/** A set of tools under one id, as published: data only. */
export interface ModuleDeclaration {
  readonly id: string;
  readonly description: string;
  /** Set by the module's author; a lower version never replaces a higher one in the catalog. */
  readonly version: string;
  readonly pool: string;
  readonly tools: readonly ToolDeclaration[];
  /** Resources and prompts; absent when there are none. */
  readonly surfaces?: readonly SurfaceDeclaration[];
  /** SHA-256 over id, version, pool and the digests of tools and surfaces. */
  readonly digest: string;
}

/** Everything in a module that can be called: its tools, resources and prompts. */
export function entriesOf({
  tools,
  surfaces,
}: Pick<ModuleDeclaration, 'tools' | 'surfaces'>): readonly ToolDeclaration[] {
  return surfaces === undefined ? tools : [...tools, ...surfaces];
}

/** A module that could not be loaded, and the reason. The other modules are served all the same. */
export interface BrokenModule {
  readonly id: string;
  readonly file: string;
  readonly reason: string;
}
