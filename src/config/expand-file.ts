import { isJsonObject } from '../base/json.ts';
import type { SettingsFile } from '../base/settings/read-settings-file.ts';
import { rowAt } from './option-rows.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Expanded = { readonly text: string; readonly whole: boolean } | { readonly problem: string };

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;
/** A reference to a secret. It is not expanded: the worker reads it when it connects to an MCP server. */
const SECRET_REFERENCE = /\$\{secret:[A-Z][A-Z0-9_]*\}/g;
const WHOLE = /^\$\{[^{}]*\}$/;

/** Expands `${NAME}` and `${NAME:-default}`. The value of a variable is used as it is, and must not contain placeholders itself. @internal */
export function expandPlaceholders(text: string, env: Environment): Expanded {
  let problem: string | undefined;
  const rest = text.replaceAll(PLACEHOLDER, '').replaceAll(SECRET_REFERENCE, '');
  if (rest.includes('${')) return { problem: 'a placeholder reads ${NAME} or ${NAME:-default}' };
  const expanded = text.replaceAll(PLACEHOLDER, (_, name: string, fallback: string | undefined) => {
    const value = env[name];
    if (value === undefined || (value === '' && fallback !== undefined)) {
      if (fallback === undefined) problem ??= `the environment has no ${name}`;
      return fallback ?? '';
    }
    if (value.includes('${')) problem ??= `${name} holds a placeholder itself`;
    return value;
  });
  return problem === undefined ? { text: expanded, whole: WHOLE.test(text) } : { problem };
}

/** True if the whole text is one placeholder without a default, so no part of the value is in the file. */
function isPurePlaceholder(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}

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
