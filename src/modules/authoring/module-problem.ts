import { suggestName } from '../../base/near-names.ts';
import { SECRET_DECLARATION } from '../../domain/secret/secret-reference.ts';
import { isPlainObject, NOT_PLAIN } from './plain-object.ts';
import { findHiddenCharacter } from './shown-text.ts';
import { isStandardSchema } from './standard-schema.ts';

/** The reason why a module cannot be served. The message names the module and the tool. */
export class ModuleProblem extends Error {
  override readonly name = 'ModuleProblem';
}

const MAX_DESCRIPTION_BYTES = 2048;
const MAX_SECRETS = 50;

export function fail(where: string, problem: string): never {
  throw new ModuleProblem(`${where} ${problem}${problem.endsWith('?') ? '' : '.'}`);
}

/** The names of a definition's members. The compiler reports a table that lacks one of them. */
export function membersOf<Definition>(members: Readonly<Record<keyof Required<Definition>, true>>): readonly string[] {
  return Object.keys(members);
}

/**
 * Rejects unknown members of a definition. If a misspelt `privileged` were ignored, every agent could call a tool that its author wants to
 * restrict.
 */
export function checkMembers(definition: object, known: readonly string[], where: string): void {
  if (!isPlainObject(definition)) fail(where, NOT_PLAIN);
  const unknown = Object.keys(definition).find((name) => !known.includes(name));
  if (unknown !== undefined) fail(where, `has an unknown member ${quoted(unknown)}; ${suggestName(unknown, known)}`);
}

export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}

export function checkDescription(text: unknown, where: string): string {
  if (typeof text !== 'string' || text.trim() === '') return fail(where, 'needs a description');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_DESCRIPTION_BYTES)
    fail(where, `has a description of ${bytes} bytes; the limit is ${MAX_DESCRIPTION_BYTES}`);
  const hidden = findHiddenCharacter(text);
  return hidden === undefined ? text : fail(where, `has a description that contains ${hidden}`);
}

/** Checks the names of secrets and returns them sorted, so that the digest does not depend on how they were written. */
export function checkSecrets(secrets: unknown, where: string): readonly string[] {
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.length > MAX_SECRETS)
    return fail(where, `may have a list of 1 to ${MAX_SECRETS} names as "secrets"`);
  const wrong = (secrets as readonly unknown[]).find(
    (name) => typeof name !== 'string' || !SECRET_DECLARATION.test(name),
  );
  if (wrong !== undefined || secrets.includes(undefined))
    fail(
      where,
      `has something in "secrets" that is no name like GITHUB_TOKEN or MAIL_*: ${JSON.stringify(wrong)?.slice(0, 80)}`,
    );
  return [...new Set(secrets as readonly string[])].sort();
}

export function checkFlag(flag: unknown, where: string, name: string): boolean {
  if (flag === undefined || typeof flag === 'boolean') return flag ?? false;
  return fail(where, `"${name}" must be true or false`);
}

/**
 * Checks the flag `normalises`. Only a schema with its own code can change arguments, so the flag is rejected for a plain JSON Schema,
 * where it would have no effect.
 */
export function normalisesOf(flag: unknown, input: unknown, where: string): { normalises?: true } {
  if (!checkFlag(flag, where, 'normalises')) return {};
  const hasCode = isStandardSchema(input) && input['~standard'].vendor !== 'sallyport';
  if (!hasCode) fail(where, 'says "normalises", but its input is a plain JSON Schema, which changes nothing');
  return { normalises: true };
}
