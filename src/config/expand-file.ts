import { isJsonObject } from '../base/json.ts';
import { expandPlaceholders, isPurePlaceholder } from './expand-placeholders.ts';
import { rowAt } from './option-rows.ts';
import type { SettingsFile } from '../base/settings/read-settings-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the file's values with their placeholders expanded. A value that is exactly one placeholder is read as the option's type. */
export function expandFile(settings: SettingsFile, env: Environment): { value: unknown; problems: string[] } {
  const problems: string[] = [];

  function expand(value: unknown, path: readonly PropertyKey[]): unknown {
    if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index]));
    if (isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member, [...path, name])]));
    }
    return typeof value === 'string' ? expandText(value, path) : value;
  }

  function expandText(text: string, path: readonly PropertyKey[]): unknown {
    const name = path.join('.');
    const refused = secretInClear(name, text);
    if (refused !== undefined) problems.push(`${settings.placeOf(path)}: ${name}: ${refused}`);
    if (!text.includes('${')) return text;
    const expanded = expandPlaceholders(text, env);
    if ('problem' in expanded) {
      problems.push(`${settings.placeOf(path)}: ${name}: ${expanded.problem}`);
      return text;
    }
    const row = expanded.whole ? rowAt(name) : undefined;
    return row?.read(expanded.text) ?? expanded.text;
  }

  return { value: expand(settings.value, []), problems };
}

/** Rejects secrets in clear text: a password in a file leaks with one backup or one commit. */
function secretInClear(path: string, text: string): string | undefined {
  const row = rowAt(path);
  if (row?.secret === true && !isPurePlaceholder(text)) {
    return 'a secret may not stand in the file; write ${NAME} and set NAME in the environment';
  }
  if (path !== 'redis.url') return undefined;
  const password = /^\w+:\/\/[^@/]*?:([^@/]+)@/.exec(text)?.[1];
  return password === undefined || isPurePlaceholder(password)
    ? undefined
    : 'a password may not stand in the file; write redis://user:${NAME}@host';
}
