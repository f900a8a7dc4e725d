import { planeError } from '../../domain/errors/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { nearNames } from '../../base/near-names.ts';

/** A check per option, which returns the problem if there is one. Undefined for an option that other code checks. */
export type OptionTable<Options> = {
  readonly [Name in keyof Required<Options>]: ((value: never) => string | undefined) | undefined;
};

/**
 * Rejects unknown options and impossible values. If a misplaced or misspelt option such as `hook`, `efect` or `rules` outside `policy` were
 * ignored silently, the gate could let calls pass that the author wanted to block. Throws CONFIG_INVALID with at most 8 problems.
 */
export function checkOptions<Options extends object>(
  where: string,
  given: Options,
  known: OptionTable<Options>,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  if (!isJsonObject(given))
    throw planeError('CONFIG_INVALID', { problems: [`${where}: expected an object of options`] });
  const problems = Object.entries(given as Record<string, unknown>).flatMap(([name, value]) => {
    const shown = `${where}: ${name.slice(0, 40)}`;
    if (!Object.hasOwn(known, name)) return [`${shown}: there is no such option${guess(name, known, elsewhere)}`];
    const problem = value === undefined ? undefined : known[name as keyof Options]?.(value as never);
    return problem === undefined ? [] : [`${shown}: ${problem}`];
  });
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems: problems.slice(0, 8) });
}

function guess(name: string, known: object, elsewhere: Readonly<Record<string, string>>): string {
  const [near] = nearNames(name, Object.keys(known), 1);
  const meant = Object.hasOwn(elsewhere, name) ? elsewhere[name] : near;
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

export const oneOf =
  (words: readonly string[]) =>
  (value: unknown): string | undefined =>
    words.includes(value as string) ? undefined : `expected one of ${words.join(', ')}`;

export const text =
  (maxLength: number) =>
  (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' && value.length <= maxLength
      ? undefined
      : `expected a text of 1 to ${maxLength} characters`;

export const withFunctions =
  (...names: readonly string[]) =>
  (value: unknown): string | undefined => {
    const missing = names.filter((name) => typeof (value as Record<string, unknown> | null)?.[name] !== 'function');
    return missing.length === 0 ? undefined : `expected an object with the functions ${names.join(', ')}`;
  };

export const aFunction = (value: unknown): string | undefined =>
  typeof value === 'function' ? undefined : 'expected a function';

export const aBoolean = (value: unknown): string | undefined =>
  typeof value === 'boolean' ? undefined : 'expected true or false';

/** Returns a check that accepts only an object without other members than these. */
export const membersOf =
  (known: readonly string[]) =>
  (value: unknown): string | undefined => {
    if (!isJsonObject(value)) return 'expected an object';
    const table = Object.fromEntries(known.map((name) => [name, undefined]));
    const wrong = Object.keys(value).filter((name) => !Object.hasOwn(table, name));
    if (wrong.length === 0) return undefined;
    return wrong.map((name) => `there is no ${name.slice(0, 40)}${guess(name, table, {})}`).join(', ');
  };
