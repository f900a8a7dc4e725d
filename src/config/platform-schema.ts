import { resolve } from 'node:path';
import { z } from 'zod';
import { NAME_PATTERN } from '../domain/identity/ids.ts';
import { isJsonObject } from '../base/json.ts';
import { findWebhookProblem } from '../base/http/webhook-url.ts';
import type { Kind } from './option.ts';
import { readJsonText } from './read-json-text.ts';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const MAX_PLATFORMS = 100;

const plain = z.string().regex(/^[^\p{Cc}]{1,1024}$/u, 'expected text without control characters');
const within = (min: number, max: number) => z.int(`expected milliseconds from ${min} to ${max}`).min(min).max(max);

const MEMBERS = {
  adapter: z.enum(['console', 'webhook'], 'expected one of console, webhook'),
  /** Where tools may send in addition to the channel of their session. */
  channels: z
    .union(
      [z.enum(['session', 'any']), z.array(plain).min(1).max(1000)],
      'expected session, any, or a list of channels',
    )
    .default('session'),
  deliverWithinMs: within(SECOND, 7 * DAY).default(DAY),
  url: plain.exactOptional(),
  secretEnv: z
    .string()
    .regex(/^[A-Za-z_]\w{0,127}$/, 'expected the name of a variable')
    .exactOptional(),
  secretFile: plain.exactOptional(),
  allow: z
    .array(z.string().regex(/^\S+:\d{1,5}$/, 'expected host:port'), 'expected a list of host:port')
    .max(100)
    .exactOptional(),
  timeoutMs: within(100, 60 * SECOND).exactOptional(),
  attempts: z.int('expected a whole number from 1 to 100').min(1).max(100).exactOptional(),
};
const OF_WEBHOOKS = ['url', 'secretEnv', 'secretFile', 'allow', 'timeoutMs'] as const;

/**
 * One schema with the members of all forms, instead of a union of forms: so a problem is reported at its own place and not as "no form
 * fits".
 */
const entry = z.strictObject(MEMBERS, 'expected a group with adapter').superRefine((given, context) => {
  const add = (message: string): void => context.addIssue({ code: 'custom', message });
  if (given.adapter === 'console') {
    const strange = OF_WEBHOOKS.filter((name) => given[name] !== undefined);
    if (strange.length > 0) add(`${strange.join(', ')} cannot stand beside adapter: console`);
    return;
  }
  if (given.url === undefined) return add('expected url: where the webhook is');
  const wrong = findWebhookProblem(given.url);
  if (wrong !== undefined) add(`url ${wrong}`);
  if ((given.secretEnv === undefined) === (given.secretFile === undefined)) add('expected secretEnv or secretFile');
});

export type PlatformConfig = z.output<typeof entry>;

/** The group of platforms. In the environment or a flag, it is written as JSON. */
export const platformGroup: Kind<z.ZodRecord<z.ZodString, typeof entry>> = {
  schema: z
    .record(z.string().regex(NAME_PATTERN, 'a platform is named with letters, digits, _ and -'), entry)
    .refine((all) => Object.keys(all).length <= MAX_PLATFORMS, `expected at most ${MAX_PLATFORMS} platforms`),
  expects: 'a group of platforms, each with an adapter',
  members: Object.keys(MEMBERS),
  read: readJsonText,
  place: (value, folder) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, given]) => [name, placeSecret(given, folder)]))
      : value,
};

function placeSecret(given: unknown, folder: string): unknown {
  if (!isJsonObject(given) || typeof given['secretFile'] !== 'string') return given;
  return { ...given, secretFile: resolve(folder, given['secretFile']) };
}
