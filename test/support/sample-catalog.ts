import type { Catalog } from '../../src/domain/tool/catalog.ts';
import { toolId } from '../../src/domain/identity/ids.ts';
import type { ModuleDeclaration } from '../../src/domain/tool/module.ts';
import type { ToolDeclaration } from '../../src/domain/tool/tool.ts';
import { catalogDigest, moduleDigest, toolDigest } from '../../src/domain/tool/digest.ts';
import { sampleDeclaration } from './sample-call.ts';

/** The tools of each module; a name with `!` is privileged. */
export type CatalogShape = Readonly<Record<string, readonly string[]>>;

/** A catalog as it is published, with the digests that it would have. */
export function makeCatalog(shape: CatalogShape, sequence = 1): Catalog {
  const modules = Object.entries(shape).map(([id, names]) => makeModule(id, names));
  return { sequence, digest: catalogDigest(modules), modules };
}

function makeModule(id: string, names: readonly string[]): ModuleDeclaration {
  const fields = { id, version: '1.0.0', description: `Module ${id}.`, pool: 'default' };
  const module = { ...fields, tools: names.map((name) => makeTool(id, name)) };
  return { ...module, digest: moduleDigest(module) };
}

function makeTool(module: string, name: string): ToolDeclaration {
  const id = toolId(module, name.replace('!', ''));
  const tool = sampleDeclaration({ id, description: `Does ${id}.`, privileged: name.endsWith('!') });
  return { ...tool, digest: toolDigest(tool) };
}
