import { SECRET_DECLARATION } from '../domain/secret-reference.ts';
import { findHiddenCharacter } from './shown-text.ts';
import { isStandardSchema } from './standard-schema.ts';

/** Why a module cannot be served; the message names the module and the tool. */
export class ModuleProblem extends Error {
  override readonly name = 'ModuleProblem';
}

const MAX_DESCRIPTION_BYTES = 2048;
const MAX_SECRETS = 50;

export function fail(where: string, problem: string): never {
  throw new ModuleProblem(`${where} ${problem}.`);
}

export function checkDescription(text: unknown, where: string): string {
  if (typeof text !== 'string' || text.trim() === '') return fail(where, 'needs a description');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_DESCRIPTION_BYTES)
    fail(where, `has a description of ${bytes} bytes; the limit is ${MAX_DESCRIPTION_BYTES}`);
  const hidden = findHiddenCharacter(text);
  return hidden === undefined ? text : fail(where, `has a description that contains ${hidden}`);
}

/** In one order, so that the digest does not depend on how they were written. */
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

/** Only a schema with code of its own can change arguments; a plain JSON Schema is data, and the flag would promise nothing. */
export function normalisesOf(flag: unknown, input: unknown, where: string): { normalises?: true } {
  if (!checkFlag(flag, where, 'normalises')) return {};
  const hasCode = isStandardSchema(input) && input['~standard'].vendor !== 'sallyport';
  if (!hasCode) fail(where, 'says "normalises", but its input is a plain JSON Schema, which changes nothing');
  return { normalises: true };
}
