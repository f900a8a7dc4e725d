import { resolve } from 'node:path';
import { z } from 'zod';
import { isJsonObject } from '../base/json.ts';
import { SECRET_NAME } from '../domain/secret/secret-reference.ts';
import type { SecretProvider } from '../domain/secret/secret-provider.ts';
import type { Kind } from './option.ts';
import { readJsonText } from './read-json-text.ts';

const MAX_PROVIDERS = 1000;
const MAX_WORDS = 100;

const plain = z.string().regex(/^[^\p{Cc}]{1,4096}$/u, 'expected text without control characters');
const name = z.string().regex(SECRET_NAME, 'expected the name of a secret: capitals, digits and _');
const variable = z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'expected the name of a variable');
const milliseconds = (max: number) => z.int(`expected milliseconds from 0 to ${max}`).min(0).max(max);

const MEMBERS = {
  environment: z.array(name, 'expected a list of names').min(1).max(MAX_PROVIDERS).exactOptional(),
  environmentPrefix: z
    .string()
    .regex(/^[A-Za-z]\w{1,62}_$/, 'expected the beginning of variables, at least three characters that end with _')
    .exactOptional(),
  folder: plain.exactOptional(),
  name: name.exactOptional(),
  file: plain.exactOptional(),
  command: z.array(plain, 'expected a list: the program, then its arguments').min(1).max(MAX_WORDS).exactOptional(),
  env: z.array(variable).max(100).exactOptional(),
  cwd: plain.exactOptional(),
  timeoutMs: milliseconds(60_000).exactOptional(),
  cacheMs: milliseconds(24 * 60 * 60 * 1000).exactOptional(),
};
const OF_COMMANDS = ['env', 'cwd', 'timeoutMs', 'cacheMs'];
const FORMS: readonly (readonly string[])[] = [
  ['environment'],
  ['environmentPrefix'],
  ['folder'],
  ['name', 'file'],
  ['name', 'command'],
];

/**
 * One schema with the members of all forms, instead of a union of forms: so a problem is reported at its own place and not as "no form
 * fits".
 */
const entry = z
  .strictObject(MEMBERS, 'expected a group with environment, environmentPrefix, folder, or name and file or command')
  .superRefine((given, context) => {
    const problem = findFormProblem(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .transform((given) => given as SecretProvider);

function findFormProblem(given: Readonly<Record<string, unknown>>): string | undefined {
  const keys = Object.keys(given);
  const chosen = keys.filter((key) => !OF_COMMANDS.includes(key)).sort();
  const fits = FORMS.some((form) => form.toSorted().join() === chosen.join());
  if (!fits) return 'expected environment, environmentPrefix, folder, name and file, or name and command';
  const strange = keys.filter((key) => OF_COMMANDS.includes(key));
  return strange.length > 0 && given['command'] === undefined ? `${strange.join(', ')} need a command` : undefined;
}

/** The list of providers. In the environment or a flag, it is written as JSON. */
export const secretProviders: Kind<z.ZodArray<typeof entry>> = {
  schema: z.array(entry, 'expected a list of providers').max(MAX_PROVIDERS),
  expects: 'a list of { environment }, { environmentPrefix }, { folder }, { name, file } or { name, command }',
  members: Object.keys(MEMBERS),
  read: readJsonText,
  place: (value, folder) => (Array.isArray(value) ? value.map((item: unknown) => placeProvider(item, folder)) : value),
};

/** Resolves paths against the folder of the configuration; a command also starts there. */
function placeProvider(item: unknown, folder: string): unknown {
  if (!isJsonObject(item)) return item;
  const placed = { ...item };
  for (const member of ['file', 'folder', 'cwd']) {
    if (typeof placed[member] === 'string') placed[member] = resolve(folder, placed[member]);
  }
  return placed['command'] === undefined ? placed : { cwd: folder, ...placed };
}

/** Names that two providers both provide. */
export function findTwiceProvided(providers: readonly SecretProvider[]): string[] {
  const names = providers.flatMap((one) => ('environment' in one ? one.environment : 'name' in one ? [one.name] : []));
  return [...new Set(names.filter((one, index) => names.indexOf(one) !== index))];
}
