import { resolve } from 'node:path';
import { z } from 'zod';
import { NAME_PATTERN } from '../domain/identity/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Kind } from './option.ts';
import { readJsonText } from './read-json-text.ts';

const MAX_SERVICES = 100;

const MEMBERS = {
  module: z
    .string()
    .regex(/^[^\p{Cc}]{1,4096}$/u, 'expected a path')
    .exactOptional(),
  config: z.custom<JsonObject>(isJsonObject, 'expected a group').exactOptional(),
  enabled: z.boolean('expected true or false').exactOptional(),
};

const entry = z.strictObject(MEMBERS, 'expected a group with module, config or enabled');
const entries = z
  .record(
    z.string().regex(NAME_PATTERN, 'expected a name: letters, digits, _ and -'),
    entry,
    'expected a group of services',
  )
  .refine((given) => Object.keys(given).length <= MAX_SERVICES, `expected at most ${MAX_SERVICES} services`);

/** The group of services. In the environment or a flag, it is written as JSON. Each service defines what its `config` may contain. */
export const serviceGroup: Kind<typeof entries> = {
  schema: entries,
  expects: 'a group of services: { NAME: { module, config, enabled } }',
  members: Object.keys(MEMBERS),
  read: readJsonText,
  // The values in `config` are masked: each service defines them, and one of them may be a password.
  show(value) {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, showService(item)]));
  },
  place(value, folder) {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, placeService(item, folder)]));
  },
};

function showService(item: unknown): unknown {
  if (!isJsonObject(item) || !isJsonObject(item['config'])) return item;
  const config = Object.fromEntries(Object.keys(item['config']).map((name) => [name, '***']));
  return { ...item, config };
}

function placeService(item: unknown, folder: string): unknown {
  if (!isJsonObject(item) || typeof item['module'] !== 'string') return item;
  return { ...item, module: resolve(folder, item['module']) };
}
