/**
 * What a module exposes beside tools. Each is an entry of the catalog that is called like a tool, under an id of its own, with the same
 * identity, selection, permission, gate and audit. It is in no toolkit: models do not call it.
 */
export type Surface = ResourceSurface | PromptSurface;

export type ResourceSurface = {
  readonly kind: 'resource';
  readonly name: string;
  readonly title?: string;
  readonly mediaType?: string;
  /** Whether it helps to fill in the variables of its template. */
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

/** What it is called by selections and permissions: no tool of a module may have such a name. */
const PREFIXES = { resource: 'resource--', prompt: 'prompt--' } as const;

/** With its prefix a name must fit where names of tools do. */
export const MOST_SURFACE_NAME = 50;

export function surfaceToolName(kind: Surface['kind'], name: string): string {
  return PREFIXES[kind] + name;
}

export function isSurfaceToolName(tool: string): boolean {
  return tool.startsWith(PREFIXES.resource) || tool.startsWith(PREFIXES.prompt);
}
