import type { Log } from '../domain/ports/log.ts';
import type { SecretSource } from '../domain/ports/secret-source.ts';
import { declaresSecret, referencesOfSetup } from '../domain/secret/secret-use.ts';
import { entriesOf, type ModuleDeclaration } from '../domain/tool/module.ts';
import type { LoadResult } from '../modules/catalog/loaded-module.ts';

/**
 * Finds the reasons why a worker does not serve what it should. `/readyz` shows them without a login, so they contain no text of a module:
 * its error may contain a password. That text is in the log and in `sallyport doctor`. A module that fails to load is a problem if it was
 * published for this pool before, because callers expect it. Two cases are no problems here, but `sallyport doctor` reports them: a
 * module that was never published is new, and a module whose file is gone may have been removed on purpose.
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
  // The module `tasks` is not what a worker is started for. MCP servers are.
  if (modules.some(({ builtIn, refusalOf }) => builtIn === undefined || refusalOf !== undefined)) return problems;
  const why = broken.length === 0 ? 'none was found' : `broken: ${broken.map(({ id }) => id).join(', ')}`;
  return [`no module was loaded for pool ${pool}: ${why}`, ...problems];
}

/**
 * Warns of secrets that a setup refers to and no tool will ever get. An operator learns of
 * them at the start, and not later from a tool that is refused.
 */
export function warnOfSetups({ modules }: LoadResult, secrets: Pick<SecretSource, 'knows'>, log: Log): void {
  for (const { declaration, setup } of modules) {
    const { names, problem } = referencesOfSetup(setup);
    const about = { module: declaration.id };
    if (problem !== undefined) log.warn({ ...about, problem }, 'a reference to a secret in a setup is not understood');
    for (const secret of names) {
      if (!entriesOf(declaration).some((tool) => declaresSecret(tool, secret, 'own')))
        log.warn({ ...about, secret }, 'a setup refers to a secret that no tool of its module declares');
      else if (!secrets.knows(secret))
        log.warn({ ...about, secret }, 'a setup refers to a secret that no provider knows');
    }
  }
}
