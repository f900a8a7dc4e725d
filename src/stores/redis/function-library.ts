import { readdirSync, readFileSync } from 'node:fs';
import { planeError } from '../../domain/errors.ts';
import { sendCommand, sendForBytes, type Connection } from './connection.ts';

/** Function names carry the version, so that two releases can work on one store side by side. */
const VERSION = 1;
const LIBRARY = `sallyport_${VERSION}`;
const FOLDER = new URL('functions/', import.meta.url);
/** Each uses only what stands before it. */
const SHARED = [
  'memory',
  'time',
  'lane',
  'record',
  'lease',
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
];

export interface FunctionHeader {
  readonly name: string;
  readonly flags: readonly string[];
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Names of what is repeated for every call of a batch. */
  readonly each: readonly string[];
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

/** The header is the interface: TypeScript passes keys and arguments by the names written there. */
export function parseHeader(name: string, source: string): FunctionHeader {
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
    returns: words('RETURNS', /\|/),
  };
}

export function composeLibrary(functions: ReadonlyMap<string, StoreFunction>): string {
  const shared = SHARED.map((name) => readFileSync(new URL(`shared/${name}.lua`, FOLDER), 'utf8'));
  const registered = [...functions.values()].map(({ name, flags, source }) => {
    const flagList = flags.map((flag) => `'${flag}'`).join(', ');
    return `redis.register_function{ function_name = '${functionName(name)}', flags = { ${flagList} }, callback = function(KEYS, ARGV)\n${source}\nend }`;
  });
  return [`#!lua name=${LIBRARY}`, ...shared, ...registered].join('\n');
}

function functionName(name: string): string {
  return `sp${VERSION}_${name}`;
}

/** Loads the library unless the very same is there. */
export async function loadLibrary(
  connection: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
): Promise<void> {
  const code = composeLibrary(functions);
  const listed = (await sendCommand(connection, 'FUNCTION', ['LIST', 'LIBRARYNAME', LIBRARY, 'WITHCODE'])) as unknown[];
  const fields = listed[0] as unknown[] | undefined;
  if (fields !== undefined && fields[fields.indexOf('library_code') + 1] === code) return;
  await sendCommand(connection, 'FUNCTION', ['LOAD', 'REPLACE', code]);
}

type Value = string | number | boolean | Uint8Array;
export type NamedValues = Readonly<Record<string, Value>>;

export interface FunctionCall {
  readonly keys: NamedValues;
  readonly args: NamedValues;
  readonly each?: readonly NamedValues[];
}

/** One FCALL with its arguments in the order of the header. */
export function functionCommand(found: StoreFunction, call: FunctionCall): [string, ...(string | Buffer)[]] {
  return [commandName(found), ...functionArguments(found, call)];
}

export function callFunction(connection: Connection, found: StoreFunction, call: FunctionCall): Promise<unknown> {
  return sendForBytes(connection, commandName(found), functionArguments(found, call), 2 + found.keys.length);
}

function commandName(found: StoreFunction): 'FCALL' | 'FCALL_RO' {
  return found.flags.includes('no-writes') ? 'FCALL_RO' : 'FCALL';
}

function functionArguments(found: StoreFunction, call: FunctionCall): (string | Buffer)[] {
  const args: (string | Buffer)[] = [functionName(found.name), String(found.keys.length)];
  for (const name of found.keys) args.push(toArgument(found, name, call.keys[name]));
  for (const name of found.args) args.push(toArgument(found, name, call.args[name]));
  if (call.each === undefined) return args;
  for (const item of call.each) {
    for (const name of found.each) args.push(toArgument(found, name, item[name]));
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
