import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { composeScopeLibrary } from '../../worker/services/storage/redis/scope-functions.ts';
import { sha256 } from '../../base/sha256.ts';
import { composeLibrary, readFunctions, type FunctionHeader } from './function-library.ts';

/**
 * One file for each revision of a library: a digest of its code, and how its functions are called. After a change of Lua code: raise
 * REVISION, then `RECORD_LIBRARIES=1 npx vitest run src/stores/redis/library-revisions.test.ts` writes the file. An existing file is never
 * written again, because these tests must fail if two different changes have the same revision.
 */
const FOLDER = new URL('../../../test/fixtures/libraries/', import.meta.url);
const MUST_RAISE = 'The Lua code was changed: raise REVISION, then record it (see library-revisions.test.ts).';

interface RecordedLibrary {
  readonly digest: string;
  /** By name: KEYS | ARGV | EACH, and MORE where there is one. */
  readonly functions: Readonly<Record<string, string>>;
}

interface Library extends RecordedLibrary {
  readonly name: string;
  readonly revision: number;
}

function storeLibrary(): Library {
  const functions = readFunctions();
  const [, revision, digest] = /return '(\d+) ([0-9a-f]+)' end \}$/.exec(composeLibrary(functions))!;
  const calls = [...functions.values()].map((found) => [found.name, callOf(found)] as const);
  return { name: 'sallyport_1', revision: Number(revision), digest: digest!, functions: Object.fromEntries(calls) };
}

function scopeLibrary(): Library {
  const code = composeScopeLibrary();
  const revision = Number(/^-- revision (\d+)$/m.exec(code)![1]);
  return { name: 'sallyport_services_1', revision, digest: sha256(code), functions: {} };
}

function callOf({ keys, args, each, more }: FunctionHeader): string {
  const lists = more.length === 0 ? [keys, args, each] : [keys, args, each, more];
  return lists.map((names) => names.join(', ')).join(' | ');
}

function fileOf({ name, revision }: Pick<Library, 'name' | 'revision'>): URL {
  return new URL(`${name}.revision-${revision}.json`, FOLDER);
}

function read(file: URL): RecordedLibrary {
  return JSON.parse(readFileSync(file, 'utf8')) as RecordedLibrary;
}

/** Why a process that calls the function as `older` would be misunderstood by `newer`. */
function problemOf(older: string, newer: string | undefined): string | undefined {
  if (newer === undefined) return 'it is gone';
  const [keys, args, each, more] = older.split(' | ');
  const [newKeys, newArgs, newEach, newMore] = newer.split(' | ');
  if (keys !== newKeys && !newKeys!.startsWith(`${keys}, `)) return 'its keys have changed';
  if (each !== '' && each !== newEach) return 'what is repeated in a batch has changed';
  if (more !== undefined && more !== newMore) return 'the rows after a batch have changed';
  if (args === newArgs) return undefined;
  if (each !== '') return 'an argument before a batch shifts the batch';
  return newArgs!.startsWith(`${args}, `) ? undefined : 'a new argument has to come last';
}

describe.each([storeLibrary(), scopeLibrary()])('the function library $name', (library) => {
  const file = fileOf(library);
  if (process.env['RECORD_LIBRARIES'] !== undefined && !existsSync(file)) {
    const { digest, functions } = library;
    writeFileSync(file, `${JSON.stringify({ digest, functions }, null, 2)}\n`);
  }

  it('has a new revision with every change of its code', () => {
    const recorded = existsSync(file) ? read(file).digest : undefined;
    expect(recorded === library.digest ? 'recorded' : MUST_RAISE).toBe('recorded');
  });

  it('can be called by processes of every recorded revision', () => {
    const prefix = `${library.name}.revision-`;
    const recorded = readdirSync(FOLDER).filter((name) => name.startsWith(prefix));
    expect(recorded).not.toEqual([]);
    const problems = recorded.flatMap((name) => {
      const calls = Object.entries(read(new URL(name, FOLDER)).functions);
      return calls.map(([called, older]) => [name, called, problemOf(older, library.functions[called])] as const);
    });
    expect(problems.filter(([, , problem]) => problem !== undefined)).toEqual([]);
  });
});

it.each([
  ['meta | lane', 'meta | lane, max', 'batch-less functions take more arguments', true],
  ['meta | lane', 'meta | max, lane', 'no argument comes before an old one', false],
  ['meta | lane | name', 'meta | lane, max | name', 'no argument comes before a batch', false],
  ['meta | lane', 'meta | lane, max | name', 'a batch may be added', true],
  ['meta | lane | name', 'meta | lane | name, max', 'the items of a batch stay as they are', false],
  ['meta | lane | name', 'meta | lane | name | number, max', 'rows may be added after a batch', true],
  ['meta | lane | name | number', 'meta | lane | name | number, max', 'the rows after a batch stay as they are', false],
  ['meta | lane', 'meta, live | lane', 'a new key comes last', true],
  ['meta | lane', 'live, meta | lane', 'no key comes before an old one', false],
])('compares %s with %s: %s', (older, newer, _, isFine) => {
  const full = (call: string): string => (call.split(' | ').length >= 3 ? call : `${call} | `);
  expect(problemOf(full(older), full(newer)) === undefined).toBe(isFine);
});
