import { readFileSync } from 'node:fs';
import { sendCommand, toPlaneError, type Connection } from '../../../stores/redis/connection.ts';

/** The name carries the version, so that two releases can work side by side. */
const VERSION = 1;
const LIBRARY = `sallyport_services_${VERSION}`;
const FOLDER = new URL('functions/', import.meta.url);
const FUNCTIONS = ['commit-scope', 'keep-vectors'] as const;

export type ScopeFunction = (typeof FUNCTIONS)[number];

/** `sps1_commit_scope` */
export function functionName(name: ScopeFunction): string {
  return `sps${VERSION}_${name.replaceAll('-', '_')}`;
}

function composeLibrary(): string {
  const source = (name: string): string => readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8');
  const registered = FUNCTIONS.map(
    (name) =>
      `redis.register_function{ function_name = '${functionName(name)}', callback = function(KEYS, ARGV)\n${source(name)}\nend }`,
  );
  return [`#!lua name=${LIBRARY}`, source('shared'), ...registered].join('\n');
}

/** On every primary: functions are not shared between the nodes of a cluster. */
export async function loadScopeFunctions(connection: Connection): Promise<void> {
  const code = composeLibrary();
  const nodes = 'nodes' in connection ? connection.nodes('master') : [connection];
  await Promise.all(nodes.map((node) => loadOn(node, code)));
}

async function loadOn(node: Connection, code: string): Promise<void> {
  const listed = (await sendCommand(node, 'FUNCTION', ['LIST', 'LIBRARYNAME', LIBRARY, 'WITHCODE'])) as unknown[];
  const fields = listed[0] as unknown[] | undefined;
  if (fields !== undefined && fields[fields.indexOf('library_code') + 1] === code) return;
  await sendCommand(node, 'FUNCTION', ['LOAD', 'REPLACE', code]);
}

/** Flushed, or another primary took over. */
export function isFunctionMissing(error: unknown): boolean {
  const { code, message } = toPlaneError(error);
  return code === 'STORE_FAILED' && message.includes('Function not found');
}
