// Builds the web console, console/ -> dist/console, unless nothing changed. Only node: modules until Vite is really needed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageFolders } from './bundle.mjs';
import { readBuildInput, TOP } from './top.mjs';

const SOURCES = join(TOP, 'console');
const OUTPUT = join(TOP, 'dist', 'console');
/**
 * Stamp file in dist/.build, which is not shipped. It holds the hash of the sources, the files built from them, and the packages
 * inside those files.
 */
export const CONSOLE_STAMP = join(TOP, 'dist', '.build', 'web-console.json');

/** @returns {Promise<{ kind: 'unchanged' } | { kind: 'built' } | { kind: 'failed', output: string }>} */
export async function buildConsole({ announce = () => {} } = {}) {
  if (!existsSync(join(SOURCES, 'vite.config.ts'))) return { kind: 'unchanged' };
  const wanted = hashOfSources();
  const made = readStamp();
  if (made?.sources === wanted && made.files.every((file) => existsSync(join(OUTPUT, file)))) {
    return { kind: 'unchanged' };
  }
  announce();
  rmSync(CONSOLE_STAMP, { force: true });
  let packages;
  try {
    const { build } = await import(pathToFileURL(join(TOP, 'node_modules', 'vite', 'dist', 'node', 'index.js')).href);
    const { output } = await build({
      configFile: join(SOURCES, 'vite.config.ts'),
      mode: 'production',
      logLevel: 'error',
    });
    packages = packageFolders(output.flatMap(({ moduleIds }) => moduleIds ?? []));
  } catch (error) {
    return { kind: 'failed', output: error instanceof Error ? error.message : String(error) };
  }
  mkdirSync(dirname(CONSOLE_STAMP), { recursive: true });
  writeFileSync(CONSOLE_STAMP, JSON.stringify({ sources: wanted, files: filesBelow(OUTPUT), packages }));
  return { kind: 'built' };
}

/** Hashes the console's sources. The lock file represents Vite and the libraries. */
function hashOfSources() {
  const hash = createHash('sha256');
  const inputs = [
    ...filesBelow(SOURCES)
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => join('console', file)),
    'package-lock.json',
    'tsconfig.base.json',
    'scripts/build-console.mjs',
  ];
  for (const file of inputs) {
    hash.update(`${file}\0`).update(readBuildInput(file)).update('\0');
  }
  return hash.digest('hex');
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(CONSOLE_STAMP, 'utf8'));
  } catch {
    return undefined;
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(folder, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .sort();
}
