import type { LoadResult } from '../catalog/loaded-module.ts';
import type { ModuleDeclaration } from '../domain/module.ts';

/**
 * Why a worker does not serve what it should; reasons of `/readyz`, which is read without a login. So no text of a module is among them:
 * an error of its own may show a password. The log and doctor have it. A module that fails to load is a problem when it was published for
 * this pool before: callers expect it. One that was never published is new, and one whose file is gone was removed on purpose or not,
 * which only an operator can tell: doctor reports both.
 */
export function findModuleProblems(
  { modules, broken }: LoadResult,
  pool: string,
  published: readonly Pick<ModuleDeclaration, 'id' | 'pool'>[],
): string[] {
  const served = new Set(modules.map(({ declaration }) => declaration.id));
  const known = new Set(published.filter((module) => module.pool === pool).map(({ id }) => id));
  const lost = broken.filter(({ id }) => known.has(id) && !served.has(id));
  const problems = lost.map(({ id }) => `the module ${id} was served before and does not load`);
  if (modules.some(({ builtIn }) => builtIn === undefined)) return problems;
  const why = broken.length === 0 ? 'none was found' : `broken: ${broken.map(({ id }) => id).join(', ')}`;
  return [`no module was loaded for pool ${pool}: ${why}`, ...problems];
}
