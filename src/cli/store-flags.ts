import { shellWord } from './own-command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The flags of this command that lead to its store, as they were typed. `SALLYPORT_CONFIG` and `SALLYPORT_FOLDER` become flags too: another
 * terminal may not have them. Other variables do not, because a password may be in them.
 */
export function storeFlagsOf(options: Readonly<Record<string, unknown>>, env: Environment = process.env): string[] {
  const flag = (name: string, value: unknown): string[] =>
    typeof value === 'string' && value !== '' ? [name, shellWord(hidePassword(value))] : [];
  return [
    ...flag('--config', options['config'] ?? env['SALLYPORT_CONFIG']),
    ...flag('--store', options['store']),
    ...flag('--folder', options['folder'] ?? env['SALLYPORT_FOLDER']),
    ...flag('--redis', options['redis']),
    ...flag('--redis-name', options['redisName']),
  ];
}

/** Removes the password from `redis://user:password@host`: standard error may be kept in a log. */
function hidePassword(value: string): string {
  return value.replace(/^([a-z]+:\/\/[^:@/]*:)[^@/]+@/, '$1PASSWORD@');
}
