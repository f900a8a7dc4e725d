import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { planeError } from '../domain/errors/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { findImpossible } from './check-combinations.ts';
import { configSchema, type Config } from './config-schema.ts';
import type { Source } from './config-source.ts';
import { describeIssue, type IssueNeeds, type NearNames } from '../base/settings/describe-issue.ts';
import { expandFile } from './expand-file.ts';
import { keysBelow, OPTION_ROWS, rowAt, type OptionRow } from './option-rows.ts';
import { readSettingsFile, type SettingsFile } from '../base/settings/read-settings-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigRequest {
  readonly env: Environment;
  readonly cwd: string;
  /**
   * Path of the configuration file, which must exist. If absent, `SALLYPORT_CONFIG` names the file; without that, the default names are
   * tried in the working directory.
   */
  readonly file?: string | undefined;
  /** Maps an option path to the value given on the command line. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly near: NearNames;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that the configuration was read from. */
  readonly file: string | undefined;
  /** Maps an option path to the source of its value. */
  readonly sources: ReadonlyMap<string, Source>;
}

const DEFAULT_NAMES = ['sallyport.yaml', 'sallyport.yml', 'sallyport.json'];
const MAX_PROBLEMS = 8;
const CONFIG_FILE_ENV = 'SALLYPORT_CONFIG';

/**
 * Loads the configuration. Flags take precedence over the environment, the environment over the file, and the file over the defaults.
 * Throws CONFIG_INVALID with at most 8 problems.
 */
export function loadConfig(request: ConfigRequest): LoadedConfig {
  const file = findFile(request);
  const settings = file === undefined ? undefined : readFile(file);
  const values = new Map<string, { value: unknown; source: Source }>();
  const problems: string[] = [];
  if (settings !== undefined) problems.push(...takeFile(settings, request, values));
  problems.push(...takeEnvironment(request, values));
  for (const [path, value] of Object.entries(request.flags ?? {})) {
    const row = rowAt(path)!;
    if (value !== undefined) set(values, row, value, { kind: 'flag', where: row.flag ?? path }, request.cwd);
  }
  // A Redis address on the command line also selects the Redis store.
  if (values.get('redis.url')?.source.kind === 'flag' && values.get('store')?.source.kind !== 'flag') {
    values.set('store', { value: 'redis', source: { kind: 'flag', where: '--redis' } });
  }
  refuse(problems);

  const placeOf = (members: readonly PropertyKey[]): string => {
    const row = rowAt(members.map(String).join('.'));
    return values.get(row?.path ?? '')?.source.where ?? 'configuration';
  };
  const parsed = configSchema.safeParse(nest(values));
  if (!parsed.success)
    refuse(parsed.error.issues.flatMap((issue) => describeIssue(issue, needs(placeOf, request.near))));
  const found = parsed.data!;
  const config = { ...found, folder: resolve(request.cwd, found.folder) };
  const sources = new Map(
    OPTION_ROWS.map((row) => [row.path, values.get(row.path)?.source ?? ({ kind: 'default', where: '' } as const)]),
  );
  refuse(findImpossible(config, (path) => sources.get(path)!));
  return { config, file, sources };
}

function refuse(problems: readonly string[]): void {
  // A number that is far too large breaks two rules of its schema, which are told in the same words.
  const told = [...new Set(problems)].slice(0, MAX_PROBLEMS);
  if (told.length > 0) throw planeError('CONFIG_INVALID', { problems: told });
}

function needs(placeOf: SettingsFile['placeOf'], near: NearNames): IssueNeeds {
  return { placeOf, keysBelow, near, expects: expectationAt };
}

/**
 * The words after "expected" in a message about this path. Undefined if the schema has its own messages for the members inside an option.
 */
function expectationAt(path: string): string | undefined {
  const row = rowAt(path);
  if (row === undefined) return 'a group of options';
  return row.members !== undefined && path !== row.path ? undefined : row.expects;
}

function findFile({ file, env, cwd }: ConfigRequest): string | undefined {
  const named = file ?? (env[CONFIG_FILE_ENV] === '' ? undefined : env[CONFIG_FILE_ENV]);
  if (named !== undefined) return resolve(cwd, named);
  const found = DEFAULT_NAMES.filter((name) => existsSync(join(cwd, name)));
  if (found.length > 1) refuse([`${found.join(' and ')} are both there; keep one, or name one with --config`]);
  return found[0] === undefined ? undefined : join(cwd, found[0]);
}

function readFile(path: string): SettingsFile {
  const read = readSettingsFile(path);
  if (read.kind === 'problem') throw planeError('CONFIG_INVALID', { problems: [read.problem] });
  return read.file;
}

type Values = Map<string, { value: unknown; source: Source }>;

function set(values: Values, row: OptionRow, value: unknown, source: Source, folder: string): void {
  values.set(row.path, { value: row.place?.(value, folder) ?? value, source });
}

/** Checks the file as a whole first, so that unknown keys and wrong types are reported with their place in the file. */
function takeFile(settings: SettingsFile, { env, near }: ConfigRequest, values: Values): string[] {
  const expanded = expandFile(settings, env);
  if (expanded.problems.length > 0) return expanded.problems;
  const parsed = configSchema.safeParse(expanded.value, { reportInput: true });
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) => describeIssue(issue, needs(settings.placeOf, near)));
  }
  for (const row of OPTION_ROWS) {
    const members = row.path.split('.');
    const value = memberOf(expanded.value, members);
    if (value === undefined) continue;
    set(values, row, value, { kind: 'file', where: settings.placeOf(members) }, dirname(settings.path));
  }
  return [];
}

function takeEnvironment({ env, cwd }: ConfigRequest, values: Values): string[] {
  const problems: string[] = [];
  for (const row of OPTION_ROWS) {
    const text = env[row.env];
    // An empty variable counts as not set, because compose files and unit files pass "nothing" that way.
    if (text === undefined || text === '') continue;
    const value = row.read(text);
    if (value === undefined) problems.push(`${row.env}: expected ${row.expects}`);
    else set(values, row, value, { kind: 'env', where: row.env }, cwd);
  }
  return problems;
}

function memberOf(value: unknown, path: readonly string[]): unknown {
  let at: unknown = value;
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

function nest(values: Values): Record<string, unknown> {
  const top: Record<string, unknown> = {};
  for (const [path, { value }] of values) {
    const members = path.split('.');
    const last = members.pop()!;
    let at = top;
    for (const name of members) at = (at[name] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return top;
}
