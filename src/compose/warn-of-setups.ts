import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import { declaresSecret, referencesOfSetup } from '../domain/secret/secret-use.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { Log } from '../domain/ports/log.ts';
import type { SecretSource } from '../domain/ports/secret-source.ts';

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
