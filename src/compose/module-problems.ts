import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';

/**
 * Finds the reasons why a worker does not serve what it should. `/readyz` shows them without a login, so they contain no text of a module: its
 * error may contain a password. That text is in the log and in doctor. A module that fails to load is a problem if it was published for this
 * pool before, because callers expect it. A module that was never published is new. A module whose file is gone was removed on purpose or by
 * mistake, which only an operator can know. Doctor reports both.
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
