import { readFileSync } from 'node:fs';
import { planeError } from '../../../../domain/errors/errors.ts';
import {
  mastersOf,
  sendCommand,
  summarizeNodes,
  toPlaneError,
  type Connection,
  type LoadedLibrary,
} from '../../../../stores/redis/connection.ts';

/** The library's name contains the version, so that two releases can use one server at the same time. */
const VERSION = 1;
export const SERVICES_LIBRARY = `sallyport_services_${VERSION}`;
/** Raised with every change of the Lua code, by the rules of the store's own library (`src/stores/redis/function-library.ts`). */
const REVISION = 3;
const FOLDER = new URL('functions/', import.meta.url);
const FUNCTIONS = ['commit-scope', 'keep-vectors'] as const;

export type ScopeFunction = (typeof FUNCTIONS)[number];

/** For example `sps1_commit_scope`. */
export function functionName(name: ScopeFunction): string {
  return `sps${VERSION}_${name.replaceAll('-', '_')}`;
}

/** @internal */
export function composeScopeLibrary(): string {
  const source = (name: string): string => readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8');
  const registered = FUNCTIONS.map(
    (name) =>
      `redis.register_function{ function_name = '${functionName(name)}', callback = function(KEYS, ARGV)\n${source(name)}\nend }`,
  );
  return [`#!lua name=${SERVICES_LIBRARY}`, `-- revision ${REVISION}`, source('shared'), ...registered].join('\n');
}

/** Loads the library on every primary: the nodes of a cluster do not share functions. */
export async function loadScopeFunctions(connection: Connection): Promise<LoadedLibrary> {
  const code = composeScopeLibrary();
  return summarizeNodes(await Promise.all(mastersOf(connection).map((node) => loadOn(node, code))));
}

async function loadOn(node: Connection, code: string): Promise<LoadedLibrary> {
  const found = await readCode(node);
  if (found === code) return 'there';
  if (found !== undefined && revisionOf(found) > REVISION) return 'newer';
  try {
    await sendCommand(node, 'FUNCTION', ['LOAD', 'REPLACE', code]);
  } catch (error) {
    const plane = toPlaneError(error);
    if (plane.code !== 'STORE_FORBIDDEN') throw plane;
    const what = found === undefined ? 'it is not loaded' : `it has revision ${revisionOf(found)}`;
    throw planeError('STORE_LIBRARY', { library: SERVICES_LIBRARY, found: what }, error);
  }
  return 'loaded';
}

async function readCode(node: Connection): Promise<string | undefined> {
  const request = ['LIST', 'LIBRARYNAME', SERVICES_LIBRARY, 'WITHCODE'];
  const fields = ((await sendCommand(node, 'FUNCTION', request)) as unknown[])[0] as unknown[] | undefined;
  return fields === undefined ? undefined : String(fields[fields.indexOf('library_code') + 1]);
}

/** Returns 0 for a library that has no revision line: releases before the first revision wrote none. */
function revisionOf(code: string): number {
  return Number(/^-- revision (\d+)$/m.exec(code)?.[1] ?? 0);
}

/** The server has lost the library: it was flushed, or another primary took over. */
export function isFunctionMissing(error: unknown): boolean {
  const { code, message } = toPlaneError(error);
  return code === 'STORE_FAILED' && message.includes('Function not found');
}
