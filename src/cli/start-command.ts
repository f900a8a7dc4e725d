import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { DEFAULT_MODULES, type Config } from '../config/config-schema.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { shellWord, thisCommand } from './own-command.ts';

interface Place {
  readonly cwd?: string;
  /** The command that started this program. */
  readonly command?: string;
}

/**
 * The command to type in the current folder to start a plane in the folder of `config`. `dev` without `--modules` needs a folder of modules
 * here. At the top of a clone, `npm start` serves the example modules.
 */
export function startCommand(
  { folder, worker }: { readonly folder: string; readonly worker: Pick<Config['worker'], 'modules'> },
  { cwd = process.cwd(), command = thisCommand() }: Place = {},
): string {
  const place = relative(cwd, folder) || '.';
  const flags = place === DEFAULT_FOLDER ? '' : ` --folder ${shellWord(place)}`;
  if (worker.modules !== undefined || existsSync(resolve(cwd, DEFAULT_MODULES))) return `sallyport dev${flags}`;
  if (command === './sallyport' && existsSync(resolve(cwd, 'scripts/start.mjs')))
    return `npm start${flags && ` --${flags}`}`;
  return `sallyport dev --modules PATH${flags}`;
}
