import { resolve } from 'node:path';
import { z } from 'zod';
import { NAME_PATTERN } from '../domain/identity/ids.ts';
import { EFFECTS } from '../domain/tool/tool.ts';
import {
  DEFAULT_UPSTREAM_LIMITS,
  INSTANCE_SCOPES,
  type Upstream,
  type UpstreamAddress,
  type UpstreamLimits,
} from '../domain/upstream/upstream.ts';
import { isJsonObject } from '../base/json.ts';
import type { Kind } from './option.ts';
import { readJsonText } from './read-json-text.ts';

const MAX_UPSTREAMS = 200;
const MAX_WORDS = 200;
const HOUR = 60 * 60 * 1000;
const GIB = 1024 * 1024 * 1024;

const plain = z.string().regex(/^[^\p{Cc}]{1,8192}$/u, 'expected text without control characters');
const yesOrNo = z.boolean('expected true or false');
const whole = (min: number, max: number) => z.int(`expected a whole number from ${min} to ${max}`).min(min).max(max);
const texts = (name: RegExp, expects: string) => z.record(z.string().regex(name, expects), z.string().max(8192));

const tool = z.strictObject(
  {
    effect: z.enum(EFFECTS, `expected one of ${EFFECTS.join(', ')}`).exactOptional(),
    serial: yesOrNo.exactOptional(),
    privileged: yesOrNo.exactOptional(),
    hidden: yesOrNo.exactOptional(),
    description: z.string().min(1).max(16_384).exactOptional(),
    limits: z
      .strictObject({
        timeoutMs: whole(1, 24 * HOUR).exactOptional(),
        maxAttempts: whole(1, 10).exactOptional(),
        waitMs: whole(0, HOUR).exactOptional(),
        concurrency: whole(1, 4096).exactOptional(),
        maxResultBytes: whole(1024, GIB).exactOptional(),
      })
      .exactOptional(),
  },
  'expected a group with effect, serial, privileged, hidden, description or limits',
);

const MEMBERS = {
  command: plain.exactOptional(),
  args: z
    .array(plain.or(z.literal('')), 'expected a list of texts')
    .max(MAX_WORDS)
    .exactOptional(),
  cwd: plain.exactOptional(),
  env: texts(/^[A-Za-z_]\w{0,127}$/, 'expected the name of a variable').exactOptional(),
  url: z
    .string()
    .regex(
      /^https?:\/\/[^\s@/]+(?:[/?#]\S{0,4096})?$/,
      'expected an http:// or https:// address without a user name and password',
    )
    .exactOptional(),
  transport: z.enum(['http', 'sse'], 'expected http or sse').exactOptional(),
  headers: texts(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'expected the name of a header').exactOptional(),
  pool: z.string().regex(NAME_PATTERN, 'expected a name').exactOptional(),
  sharedBy: z.enum(INSTANCE_SCOPES, `expected one of ${INSTANCE_SCOPES.join(', ')}`).exactOptional(),
  enabled: yesOrNo.exactOptional(),
  asks: z
    .strictObject({ elicit: yesOrNo.exactOptional(), sample: yesOrNo.exactOptional(), roots: yesOrNo.exactOptional() })
    .exactOptional(),
  limits: z
    .strictObject({
      instances: whole(1, 1000).exactOptional(),
      startMs: whole(100, HOUR).exactOptional(),
      idleMs: whole(100, 24 * HOUR).exactOptional(),
      compareMs: whole(1000, 24 * HOUR).exactOptional(),
      messageBytes: whole(1024, GIB).exactOptional(),
      memoryBytes: whole(1024 * 1024, 1024 * GIB).exactOptional(),
    })
    .exactOptional(),
  tools: z.record(z.string().max(2048), tool).exactOptional(),
};

const OF_PROGRAMS = ['args', 'cwd', 'env'];
const OF_ADDRESSES = ['transport', 'headers'];

const entry = z.strictObject(MEMBERS, 'expected a group with command, or with url').superRefine((given, context) => {
  const problem = findFormProblem(given);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
type Entry = z.output<typeof entry>;

function findFormProblem(given: Entry): string | undefined {
  if ((given.command === undefined) === (given.url === undefined)) return 'expected either command or url';
  const foreign = (given.command === undefined ? OF_PROGRAMS : OF_ADDRESSES).filter((name) =>
    Object.hasOwn(given, name),
  );
  if (foreign.length === 0) return undefined;
  return `${foreign.join(', ')} ${foreign.length === 1 ? 'needs' : 'need'} ${given.command === undefined ? 'a command' : 'a url'}`;
}

const entries = z
  .record(
    z.string().regex(NAME_PATTERN, 'expected a name: letters, digits, _ and -'),
    entry,
    'expected a group of MCP servers',
  )
  .refine((given) => Object.keys(given).length <= MAX_UPSTREAMS, `expected at most ${MAX_UPSTREAMS} MCP servers`);

export type UpstreamEntries = z.output<typeof entries>;

/** The group of MCP servers. In the environment or a flag, it is written as JSON. */
export const upstreamGroup: Kind<typeof entries> = {
  schema: entries,
  expects: 'a group of MCP servers: { NAME: { command, args, env } } or { NAME: { url, headers } }',
  members: Object.keys(MEMBERS),
  read: readJsonText,
  // Values of variables and headers are masked: a token may stand there in clear text.
  show(value) {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, showEntry(item)]));
  },
  place(value, folder) {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, placeEntry(item, folder)]));
  },
};

/** The upstreams of a configuration, with all defaults. Those that are switched off are left out. */
export function upstreamsOf(given: UpstreamEntries | undefined): Upstream[] {
  return Object.entries(given ?? {}).flatMap(([id, one]) => (one.enabled === false ? [] : [upstreamOf(id, one)]));
}

function upstreamOf(id: string, { command, args, cwd, env, url, transport, headers, ...rest }: Entry): Upstream {
  const address: UpstreamAddress =
    command === undefined
      ? { kind: transport ?? 'http', url: url!, headers: headers ?? {} }
      : { kind: 'stdio', command, args: args ?? [], env: env ?? {}, ...(cwd === undefined ? {} : { cwd }) };
  return {
    id,
    address,
    ...(rest.pool === undefined ? {} : { pool: rest.pool }),
    sharedBy: rest.sharedBy ?? 'subject',
    limits: { ...DEFAULT_UPSTREAM_LIMITS, ...(rest.limits as Partial<UpstreamLimits> | undefined) },
    asks: rest.asks ?? {},
    tools: (rest.tools ?? {}) as Upstream['tools'],
  };
}

function showEntry(item: unknown): unknown {
  if (!isJsonObject(item)) return item;
  const masked = (group: unknown): unknown =>
    isJsonObject(group) ? Object.fromEntries(Object.keys(group).map((name) => [name, '***'])) : group;
  return {
    ...item,
    ...(item['env'] === undefined ? {} : { env: masked(item['env']) }),
    ...(item['headers'] === undefined ? {} : { headers: masked(item['headers']) }),
  };
}

/** Resolves the working folder, and a command that is a path, against the folder of the configuration. */
function placeEntry(item: unknown, folder: string): unknown {
  if (!isJsonObject(item)) return item;
  const { cwd, command } = item;
  return {
    ...item,
    ...(typeof cwd === 'string' ? { cwd: resolve(folder, cwd) } : {}),
    ...(typeof command === 'string' && /^\.{0,2}\//.test(command) ? { command: resolve(folder, command) } : {}),
  };
}
