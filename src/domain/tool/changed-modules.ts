import type { Catalog } from './catalog.ts';
import { entriesOf, type ModuleDeclaration } from './module.ts';

/** Ids of the modules that only one of two catalogs has, or that are not the same in both. */
export function changedModules(before: Catalog, after: Catalog): string[] {
  const [old, now] = [byId(before), byId(after)];
  const ids = new Set([...old.keys(), ...now.keys()]);
  return [...ids].filter((id) => !areSame(old.get(id) ?? [], now.get(id) ?? []));
}

function byId({ modules }: Catalog): Map<string, ModuleDeclaration[]> {
  const found = new Map<string, ModuleDeclaration[]>();
  for (const module of modules) {
    const same = found.get(module.id);
    if (same === undefined) found.set(module.id, [module]);
    else same.push(module);
  }
  return found;
}

function areSame(before: readonly ModuleDeclaration[], after: readonly ModuleDeclaration[]): boolean {
  return before.length === after.length && before.every((module, at) => isSame(module, after[at]!));
}

/**
 * Compares limits and the module's description separately, because digests leave them out. Tools with equal digests are equal in everything
 * else.
 */
function isSame(before: ModuleDeclaration, after: ModuleDeclaration): boolean {
  if (before === after) return true;
  if (before.digest !== after.digest || before.description !== after.description) return false;
  const [old, now] = [entriesOf(before), entriesOf(after)];
  return (
    old.length === now.length &&
    old.every((tool, at) => {
      const { digest, limits } = now[at]!;
      return tool.digest === digest && JSON.stringify(tool.limits) === JSON.stringify(limits);
    })
  );
}
