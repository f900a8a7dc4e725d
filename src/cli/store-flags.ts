import { relative } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import type { CommandContext } from './command-context.ts';
import { shellWord, thisCommand } from './own-command.ts';

/** The command to type in another terminal, in the same folder, to reach the same store: `./sallyport --folder plane`. */
export function sameStoreCommand(
  { options }: Pick<CommandContext, 'options'>,
  config: Pick<Config, 'store' | 'folder'>,
): string {
  return [thisCommand(), ...storeFlags(options, config)].join(' ');
}

/** @internal */
export function storeFlags(
  options: Readonly<Record<string, unknown>>,
  { store, folder }: Pick<Config, 'store' | 'folder'>,
): string[] {
  const flag = (name: string, value: unknown): string[] =>
    typeof value === 'string' ? [name, shellWord(hidePassword(value))] : [];
  const shared = [...flag('--config', options['config']), ...flag('--store', options['store'])];
  if (store === 'redis')
    return [...shared, ...flag('--redis', options['redis']), ...flag('--redis-name', options['redisName'])];
  const place = relative(process.cwd(), folder) || '.';
  return [...shared, ...(place === DEFAULT_FOLDER ? [] : ['--folder', shellWord(place)])];
}

/** Removes the password from `redis://user:password@host`: standard error may be kept in a log. */
function hidePassword(value: string): string {
  return value.replace(/^([a-z]+:\/\/[^:@/]*:)[^@/]+@/, '$1PASSWORD@');
}
