import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULT_MODULES, type Config } from '../config/config-schema.ts';
import { sameStoreCommand, thisCommand } from './own-command.ts';

interface Place {
  readonly cwd?: string;
  /** The command that started this program. */
  readonly command?: string;
  /** The command with the flags that lead to its store. */
  readonly sameStore?: string;
}

/**
 * The command to type in the current folder to start a plane in the folder of this command. `dev` without `--modules` needs a folder of
 * modules here. At the top of a clone, `npm start` serves the example modules. `asTyped` adds the flags of the store to `dev`.
 */
export function startCommand(
  { worker }: { readonly worker: Pick<Config['worker'], 'modules'> },
  { cwd = process.cwd(), command = thisCommand(), sameStore = sameStoreCommand() }: Place = {},
): string {
  if (worker.modules !== undefined || existsSync(resolve(cwd, DEFAULT_MODULES))) return 'sallyport dev';
  if (command !== './sallyport' || !existsSync(resolve(cwd, 'scripts/start.mjs')))
    return 'sallyport dev --modules PATH';
  const flags = sameStore.slice(command.length);
  return `npm start${flags && ` --${flags}`}`;
}
