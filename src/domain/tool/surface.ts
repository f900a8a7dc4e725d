/**
 * What a module exposes in addition to tools. Each surface is an entry of the catalog that is called like a tool, under an id of its own,
 * with the same identity, selection, permission, gate and audit. It is in no toolkit: models do not call it.
 */
export type Surface = ResourceSurface | PromptSurface;

export type ResourceSurface = {
  readonly kind: 'resource';
  readonly name: string;
  readonly title?: string;
  readonly mediaType?: string;
  /** True if the resource offers completions for the variables of its template. */
  readonly completes?: true;
} & ({ readonly uri: string } | { readonly uriTemplate: string });

export interface PromptSurface {
  readonly kind: 'prompt';
  readonly name: string;
  readonly title?: string;
  readonly arguments: readonly PromptArgument[];
  readonly completes?: true;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

/** Prefixes of the names under which selections and permissions name surfaces. No tool of a module may have a name with such a prefix. */
const PREFIXES = { resource: 'resource--', prompt: 'prompt--' } as const;

/** Max length of a surface's name. With its prefix, the name must fit where names of tools do. */
export const MAX_SURFACE_NAME = 50;

export function surfaceToolName(kind: Surface['kind'], name: string): string {
  return PREFIXES[kind] + name;
}

export function isSurfaceToolName(tool: string): boolean {
  return tool.startsWith(PREFIXES.resource) || tool.startsWith(PREFIXES.prompt);
}
