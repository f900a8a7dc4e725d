import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(TOP, 'dist');
const SRC = join(TOP, 'src');

/** Matches static and dynamic imports, and re-exports. */
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)(["'`])(\.\.?\/[\w./-]+\.js)\1/g;
/** Matches files that are started by path as threads or processes. Imports in sources end in `.ts`, so they do not match. */
const ADDRESSES = /(['"`])((?:\.|[\w-]+)\/[\w/-]+\.js)\1/g;

/** The folder of a package, including one inside another package. */
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
}

export interface Reached {
  /** Paths relative to `dist`. */
  readonly files: Set<string>;
  /** The sources whose code is in these files, relative to `src`. */
  readonly sources: Set<string>;
  /** The packages whose code is in these files, as the lock file names them: `node_modules/zod`. */
  readonly packages: Set<string>;
}

/** Everything that the command and the exports can load or start. */
export function walkPackage(): Reached {
  const exported = readdirSync(join(DIST, 'exports')).filter((file) => file.endsWith('.js'));
  return walkDist('cli/main.js', ...exported.map((file) => `exports/${file}`));
}

/** Everything that these files of the package can load or start. */
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
    // Code that the bundler itself wrote has no source.
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

/** A path that begins with `./` is relative to the source; other paths are relative to `dist`. */
function addressesIn(code: string, source: string): string[] {
  return [...code.matchAll(ADDRESSES)]
    .map(([, , path]) => (path!.startsWith('./') ? join(dirname(source), path!) : path!))
    .filter((path) => existsSync(join(DIST, path)));
}
