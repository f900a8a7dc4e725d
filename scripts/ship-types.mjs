// Copies the declarations that the exports reach to dist/types: one in five of those that the compiler writes. Uses only node: modules.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const TYPES = 'types';
/** Matches static imports, re-exports and `import('…')` types of files by relative path. */
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.\.?\/[\w./-]+)\.[jt]s\1/g;

/** @returns {string[]} the files it wrote, below `dist` */
export function shipTypes(dist) {
  rmSync(join(dist, TYPES), { recursive: true, force: true });
  const reached = reachedDeclarations(dist);
  for (const file of reached) {
    const target = join(dist, TYPES, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(dist, file), target);
  }
  return reached.map((file) => `${TYPES}/${file}`);
}

function reachedDeclarations(dist) {
  const reached = new Set();
  const waiting = readdirSync(join(dist, 'exports'))
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => `exports/${file}`);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const [, , path] of readFileSync(join(dist, file), 'utf8').matchAll(IMPORTS)) {
      const next = posix.join(posix.dirname(file), `${path}.d.ts`);
      if (!existsSync(join(dist, next))) throw new Error(`dist/${file} imports ${path}, and there is no dist/${next}.`);
      waiting.push(next);
    }
  }
  return [...reached].sort((one, other) => (one < other ? -1 : 1));
}
