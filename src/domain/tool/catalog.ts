import type { ToolId } from '../identity/ids.ts';
import { entriesOf, type ModuleDeclaration } from './module.ts';
import type { ToolDeclaration } from './tool.ts';

/** Everything that is published. The sequence grows with every publication; the digest changes only with the content. */
export interface Catalog {
  readonly sequence: number;
  readonly digest: string;
  readonly modules: readonly ModuleDeclaration[];
}

export const EMPTY_CATALOG: Catalog = Object.freeze({ sequence: 0, digest: '', modules: Object.freeze([]) });

export interface PublishedTool {
  readonly tool: ToolDeclaration;
  readonly module: ModuleDeclaration;
}

/** All tools, resources and prompts that can be called, by id, in catalog order. */
export function indexTools(catalog: Catalog): ReadonlyMap<ToolId, PublishedTool> {
  const index = new Map<ToolId, PublishedTool>();
  for (const module of catalog.modules) {
    for (const tool of entriesOf(module)) index.set(tool.id, { tool, module });
  }
  return index;
}
