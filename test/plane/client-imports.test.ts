import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
/** Where tool code is loaded, described or run. */
const TOOL_CODE = ['runners', 'worker', 'catalog', 'authoring'];

/** Static and dynamic imports, re-exports, and files that are started as threads or processes by their address. */
const REFERENCES = /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)(['"`])(\.[^'"`$]+)\1/g;

/** All files of the package that one of them can reach. */
function reachable(from: string): Set<string> {
  const found = new Set<string>();
  const waiting = [resolve(DIST, from)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || !file.endsWith('.js')) continue;
    found.add(file);
    for (const [, , path] of readFileSync(file, 'utf8').matchAll(REFERENCES)) {
      const target = resolve(dirname(file), path!);
      if (existsSync(target)) waiting.push(target);
    }
  }
  return found;
}

function foldersReachedFrom(file: string): Set<string> {
  return new Set([...reachable(file)].map((each) => relative(DIST, each).split('/')[0]!));
}

it('the client export reaches no code that loads, describes or runs tools', () => {
  const reached = [...reachable('exports/client.js')].map((file) => relative(DIST, file));
  expect(reached).toContain('client/client.js');
  expect(reached).toContain('stores/embedded/store-thread.js');
  expect(reached.filter((file) => TOOL_CODE.includes(file.split('/')[0]!))).toStrictEqual([]);
});

it('the worker export reaches all of it, so the walk can see it', () => {
  const folders = foldersReachedFrom('exports/worker.js');
  expect(TOOL_CODE.filter((folder) => !folders.has(folder))).toStrictEqual([]);
});
