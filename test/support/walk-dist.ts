import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(TOP, 'dist');
const SRC = join(TOP, 'src');

/** Static and dynamic imports, and re-exports. */
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)(["'`])(\.\.?\/[\w./-]+\.js)\1/g;
/** Files that are started as threads or processes by their address; what sources import ends in `.ts`. */
const ADDRESSES = /(['"`])((?:\.|[\w-]+)\/[\w/-]+\.js)\1/g;

/** The folder of a package, also of one inside another. */
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
}

export interface Reached {
  /** Relative to `dist`. */
  readonly files: Set<string>;
  /** The sources whose code is in them, relative to `src`. */
  readonly sources: Set<string>;
  /** The packages whose code is in them: `node_modules/zod`, as the lock file names them. */
  readonly packages: Set<string>;
}

/** All that the command and the exports can load or start. */
export function walkPackage(): Reached {
  const exported = readdirSync(join(DIST, 'exports')).filter((file) => file.endsWith('.js'));
  return walkDist('cli/main.js', ...exported.map((file) => `exports/${file}`));
}

/** All that a file of the package can load or start. */
export function walkDist(...from: readonly string[]): Reached {
  const files = new Set<string>();
  const sources = new Set<string>();
  const packages = new Set<string>();
  const waiting = [...from];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const code = readFileSync(join(DIST, file), 'utf8');
    for (const [, , path] of code.matchAll(IMPORTS)) waiting.push(join(dirname(file), path!));
    // The bundler's own lines have no source.
    if (!existsSync(join(DIST, `${file}.map`))) continue;
    const map = JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8')) as SourceMap;
    map.sources.forEach((name, index) => {
      const path = resolve(DIST, dirname(file), name);
      const packed = PACKAGE.exec(relative(TOP, path))?.[0];
      if (packed !== undefined) packages.add(packed);
      const source = relative(SRC, path);
      if (source.startsWith('..')) return;
      sources.add(source);
      waiting.push(...addressesIn(map.sourcesContent[index]!, source));
    });
  }
  return { files, sources, packages };
}

/** `./` is beside the source; others count from the top of `dist`. */
function addressesIn(code: string, source: string): string[] {
  return [...code.matchAll(ADDRESSES)]
    .map(([, , path]) => (path!.startsWith('./') ? join(dirname(source), path!) : path!))
    .filter((path) => existsSync(join(DIST, path)));
}
