import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { planeError } from '../../domain/errors/errors.ts';
import { OWED_BEATS } from '../../domain/ports/owed-store.ts';
import { asText } from './answers.ts';
import {
  mastersOf,
  NODE_READY_TIMEOUT_MS,
  summarizeNodes,
  sendCommand,
  sendForBytes,
  toPlaneError,
  untilReady,
  type Connection,
  type LoadedLibrary,
} from './connection.ts';

/** Function names contain the version, so that two releases can use one store at the same time. */
const VERSION = 1;
/**
 * Raised with every change of the Lua code. A process of an older release that starts later leaves the newer functions in place, and calls
 * them with the arguments that it knows. So new arguments come last and have a default in Lua; a batch (EACH) gets no new argument, only
 * rows after it (MORE); and a new meaning gets a new word or a new name. `library-revisions.test.ts` checks this, and that every change has
 * its own revision. A change that cannot be compatible raises VERSION.
 */
const REVISION = 11;
export const LIBRARY = `sallyport_${VERSION}`;
const FOLDER = new URL('functions/', import.meta.url);
/** Numbers that the functions have in common with the embedded store. */
const CONSTANTS = `local OWED_BEATS = { every_ms = ${OWED_BEATS.everyMs}, silent_ms = ${OWED_BEATS.silentMs} }`;
/** Shared parts in loading order: each uses only parts before it. */
const SHARED = [
  'memory',
  'time',
  'audit',
  'journal',
  'lane',
  'record',
  'lease',
  'shares',
  'ending',
  'session',
  'attempts',
  'new-attempts',
  'settled-attempts',
  'caller',
  'generation',
  'queue',
  'settlement',
  'approval',
  'grant',
  'outbound',
  'token',
  'owed',
];

export interface FunctionHeader {
  readonly name: string;
  readonly flags: readonly string[];
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /**
   * Names of the arguments in the rows that follow a batch. Only few calls of a batch need these arguments: each of those calls has one
   * row, and the others have none.
   */
  readonly each: readonly string[];
  /** Names of the arguments in the rows after a batch: they have what only few calls of it need. */
  readonly more: readonly string[];
  readonly returns: readonly string[];
}

export interface StoreFunction extends FunctionHeader {
  readonly source: string;
}

export function readFunctions(): ReadonlyMap<string, StoreFunction> {
  const functions = new Map<string, StoreFunction>();
  for (const file of readdirSync(FOLDER)
    .filter((name) => name.endsWith('.lua'))
    .sort()) {
    const source = readFileSync(new URL(file, FOLDER), 'utf8');
    const name = file.slice(0, -'.lua'.length).replaceAll('-', '_');
    functions.set(name, { ...parseHeader(name, source), source });
  }
  return functions;
}

/** Parses the header comment of a function. It is the interface: TypeScript passes keys and arguments by the names written there. */
function parseHeader(name: string, source: string): FunctionHeader {
  const comment = /^--\[\[([\s\S]*?)\]\]/.exec(source)?.[1] ?? '';
  const words = (label: string, separator: RegExp): string[] => {
    const line = new RegExp(`^\\s*${label}\\s+(.+)$`, 'm').exec(comment)?.[1];
    return line === undefined ? [] : line.split(separator).map((word) => word.trim());
  };
  return {
    name,
    flags: words('FLAGS', /,/),
    keys: words('KEYS', /,/),
    args: words('ARGV', /,/),
    each: words('EACH', /,/),
    more: words('MORE', /,/),
    returns: words('RETURNS', /\|/),
  };
}

/** @internal */
export function composeLibrary(functions: ReadonlyMap<string, StoreFunction>): string {
  const shared = SHARED.map((name) => readFileSync(new URL(`shared/${name}.lua`, FOLDER), 'utf8'));
  const registered = [...functions.values()].map(({ name, flags, source }) => {
    const flagList = flags.map((flag) => `'${flag}'`).join(', ');
    return `redis.register_function{ function_name = '${functionName(name)}', flags = { ${flagList} }, callback = function(KEYS, ARGV)\n${source}\nend }`;
  });
  const code = [CONSTANTS, ...shared, ...registered].join('\n');
  const buildFunction = `redis.register_function{ function_name = '${functionName('library')}', flags = { 'no-writes' }, callback = function() return '${buildOf(code)}' end }`;
  return [`#!lua name=${LIBRARY}`, code, buildFunction].join('\n');
}

/** Returns revision and digest of the functions, which identify a build of the library. */
function buildOf(code: string): string {
  return `${REVISION} ${createHash('sha256').update(code).digest('hex')}`;
}

export function functionName(name: string): string {
  return `sp${VERSION}_${name}`;
}

/** Loads the library on every node of a cluster, unless the node has the same or a newer build. */
export async function loadLibrary(
  connection: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
): Promise<LoadedLibrary> {
  const code = composeLibrary(functions);
  const own = /callback = function\(\) return '([^']+)' end \}$/.exec(code)![1]!;
  const answers: LoadedLibrary[] = [];
  for (const node of mastersOf(connection)) {
    await untilReady(node, NODE_READY_TIMEOUT_MS);
    const found = await readBuild(node);
    if (found === own) answers.push('there');
    else if (revisionOf(found) > REVISION) answers.push('newer');
    else {
      await loadInto(node, code, found);
      answers.push('loaded');
    }
  }
  return summarizeNodes(answers);
}

async function loadInto(node: Connection, code: string, found: string | undefined): Promise<void> {
  try {
    await sendCommand(node, 'FUNCTION', ['LOAD', 'REPLACE', code]);
  } catch (error) {
    const plane = toPlaneError(error);
    if (plane.code !== 'STORE_FORBIDDEN') throw plane;
    const what = found === undefined ? 'it is not loaded' : `it has build ${found.slice(0, 16)}`;
    throw planeError('STORE_LIBRARY', { library: LIBRARY, found: what }, error);
  }
}

/** Asks the library itself for its build, because not every user may list the server's functions. */
async function readBuild(node: Connection): Promise<string | undefined> {
  try {
    return asText(await sendCommand(node, 'FCALL_RO', [functionName('library'), '0']));
  } catch (error) {
    if (error instanceof Error && error.message.includes('Function not found')) return undefined;
    throw error;
  }
}

function revisionOf(build: string | undefined): number {
  return Number(build?.split(' ')[0] ?? 0);
}

type Value = string | number | boolean | Uint8Array;
export type NamedValues = Readonly<Record<string, Value>>;

export interface FunctionCall {
  readonly keys: NamedValues;
  readonly args: NamedValues;
  readonly each?: readonly NamedValues[];
  readonly more?: readonly NamedValues[];
}

/** Makes one FCALL command with its arguments in the order of the header. */
export function functionCommand(found: StoreFunction, call: FunctionCall): [string, ...(string | Buffer)[]] {
  return [commandName(found), ...functionArguments(found, call)];
}

export function callFunction(connection: Connection, found: StoreFunction, call: FunctionCall): Promise<unknown> {
  return sendForBytes(connection, commandName(found), functionArguments(found, call), 2 + found.keys.length);
}

function commandName(found: StoreFunction): 'FCALL' | 'FCALL_RO' {
  return found.flags.includes('no-writes') ? 'FCALL_RO' : 'FCALL';
}

/** Every call of a batch begins with an id, so an empty argument where an id is expected ends the batch. */
const END_OF_BATCH = '';

function functionArguments(found: StoreFunction, call: FunctionCall): (string | Buffer)[] {
  const args: (string | Buffer)[] = [functionName(found.name), String(found.keys.length)];
  for (const name of found.keys) args.push(toArgument(found, name, call.keys[name]));
  for (const name of found.args) args.push(toArgument(found, name, call.args[name]));
  if (call.each === undefined) return args;
  for (const item of call.each) {
    for (const name of found.each) args.push(toArgument(found, name, item[name]));
  }
  if (call.more === undefined || call.more.length === 0) return args;
  args.push(END_OF_BATCH);
  for (const row of call.more) {
    for (const name of found.more) args.push(toArgument(found, name, row[name]));
  }
  return args;
}

function toArgument(found: StoreFunction, name: string, value: Value | undefined): string | Buffer {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (value === undefined) throw planeError('INTERNAL', { problem: `${found.name} was called without ${name}` });
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
