type Environment = Readonly<Record<string, string | undefined>>;

export type Expanded = { readonly text: string; readonly whole: boolean } | { readonly problem: string };

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;
const WHOLE = /^\$\{[^{}]*\}$/;

/** Expands `${NAME}` and `${NAME:-default}`. The value of a variable is used as it is, and must not contain placeholders itself. */
export function expandPlaceholders(text: string, env: Environment): Expanded {
  let problem: string | undefined;
  const rest = text.replaceAll(PLACEHOLDER, '');
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
export function isPurePlaceholder(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}
