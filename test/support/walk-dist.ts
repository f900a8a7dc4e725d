import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(TOP, 'dist');
const SRC = join(TOP, 'src');

/** Static and dynamic imports, and re-exports. */
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)(["'`])(\.\.?\/[\w./-]+\.js)\1/g;
/** Files that are started as threads or processes by their address; what sources import ends in `.ts`. */
const ADDRESSES = /(['"`])((?:\.|[\w-]+)\/[\w/-]+\.js)\1/g;
const MAPPED = /^\/\/# sourceMappingURL=/m;

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
}

export interface Reached {
  /** Relative to `dist`. */
  readonly files: Set<string>;
  /** Whose code is in them, relative to `src`. */
  readonly sources: Set<string>;
}

/** All that a file of the package can load or start. */
export function walkDist(...from: readonly string[]): Reached {
  const files = new Set<string>();
  const sources = new Set<string>();
  const waiting = [...from];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const code = readFileSync(join(DIST, file), 'utf8');
    for (const [, , path] of code.matchAll(IMPORTS)) waiting.push(join(dirname(file), path!));
    // The bundler's own lines have no source.
    if (!MAPPED.test(code)) continue;
    const map = JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8')) as SourceMap;
    map.sources.forEach((name, index) => {
      const source = relative(SRC, resolve(DIST, dirname(file), name));
      if (source.startsWith('..')) return;
      sources.add(source);
      waiting.push(...addressesIn(map.sourcesContent[index]!, source));
    });
  }
  return { files, sources };
}

/** `./` is beside the source; others count from the top of `dist`. */
function addressesIn(code: string, source: string): string[] {
  return [...code.matchAll(ADDRESSES)]
    .map(([, , path]) => (path!.startsWith('./') ? join(dirname(source), path!) : path!))
    .filter((path) => existsSync(join(DIST, path)));
}
