import { resolve } from 'node:path';
import { z } from 'zod';
import { HOOK_EVENTS, MAX_HOOK_PRIORITY, MAX_HOOK_TIMEOUT_MS } from '../domain/policy/hook.ts';
import { NAME_PATTERN } from '../domain/identity/ids.ts';
import { isJsonObject } from '../base/json.ts';
import { EFFECTS } from '../domain/tool/tool.ts';
import type { HookSource } from '../gate/hooks/load-hooks.ts';
import type { Kind } from './option.ts';
import { readJsonText } from './read-json-text.ts';

const MAX_HOOKS = 100;
const MAX_WORDS = 100;

const plain = z.string().regex(/^[^\p{Cc}]{1,4096}$/u, 'expected text without control characters');
const timeoutMs = z.int(`expected milliseconds from 1 to ${MAX_HOOK_TIMEOUT_MS}`).min(1).max(MAX_HOOK_TIMEOUT_MS);

const MEMBERS = {
  file: plain.exactOptional(),
  command: z.array(plain, 'expected a list: the program, then its arguments').min(1).max(MAX_WORDS).exactOptional(),
  on: z.enum(HOOK_EVENTS, `expected one of ${HOOK_EVENTS.join(', ')}`).exactOptional(),
  id: z.string().regex(NAME_PATTERN, 'expected a name: letters, digits, _ and -').exactOptional(),
  tools: z.array(plain, 'expected a list of tools').max(1000).exactOptional(),
  effects: z.array(z.enum(EFFECTS, `expected one of ${EFFECTS.join(', ')}`)).exactOptional(),
  priority: z.int('expected a whole number').min(-MAX_HOOK_PRIORITY).max(MAX_HOOK_PRIORITY).exactOptional(),
  timeoutMs: timeoutMs.exactOptional(),
  env: z
    .array(z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'expected the name of a variable'))
    .max(100)
    .exactOptional(),
  cwd: plain.exactOptional(),
};
const OF_FILES: readonly string[] = ['file', 'priority', 'timeoutMs'];

/**
 * One schema with the members of all forms, instead of a union of forms: so a problem is reported at its own place and not as "no form
 * fits".
 */
const entry = z
  .strictObject(MEMBERS, 'expected a group with file, or with command and on')
  .superRefine((given, context) => {
    const problem = findFormProblem(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .transform((given) => given as HookSource);

function findFormProblem(given: Readonly<Record<string, unknown>>): string | undefined {
  if (given['file'] === undefined) {
    const whole = given['command'] !== undefined && given['on'] !== undefined;
    return whole ? undefined : 'expected file, or command and on';
  }
  const strange = Object.keys(given).filter((name) => !OF_FILES.includes(name));
  return strange.length === 0 ? undefined : `${strange.join(', ')} cannot stand beside file: the plugin says it`;
}

/** The list of hooks. In the environment or a flag, it is written as JSON. */
export const hookList: Kind<z.ZodArray<typeof entry>> = {
  schema: z.array(entry, 'expected a list of hooks').max(MAX_HOOKS),
  expects: 'a list of { file } or { command, on }',
  members: Object.keys(MEMBERS),
  read: readJsonText,
  place: (value, folder) => (Array.isArray(value) ? value.map((item: unknown) => placeHook(item, folder)) : value),
};

/** Resolves a file against the folder of the configuration; a command also starts there. */
function placeHook(item: unknown, folder: string): unknown {
  if (!isJsonObject(item)) return item;
  if (typeof item['file'] === 'string') return { ...item, file: resolve(folder, item['file']) };
  const cwd = item['cwd'];
  return { ...item, cwd: typeof cwd === 'string' ? resolve(folder, cwd) : folder };
}
