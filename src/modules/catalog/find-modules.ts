import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import type { ModuleEntry } from './module-entry.ts';
import { readManifest } from './read-manifest.ts';

const MANIFEST_ENDINGS: readonly string[] = ['.yaml', '.yml', '.json'];
const CODE_ENDINGS = ['.js', '.mjs'];
const MAX_MANIFEST_BYTES = 1024 * 1024;

export interface FoundModules {
  readonly entries: readonly ModuleEntry[];
  /** The file that lists the modules, if they were not found in a folder. */
  readonly manifest?: string;
}

/**
 * The modules of a folder or a manifest. In a folder each `<name>.js|.mjs` and each `<name>/index.js|.mjs` is a module; names that start
 * with `_` or `.` and `node_modules` are not. Throws MODULES_MISSING if the place itself cannot be read, and SETUP_DUPLICATE if a manifest
 * names one setup twice.
 */
export async function findModules(path: string): Promise<FoundModules> {
  const place = await realpath(resolve(path)).catch((error: unknown) => missing(path, error));
  const facts = await stat(place).catch((error: unknown) => missing(path, error));
  if (facts.isDirectory()) {
    const names = await readdir(place).catch((error: unknown) => missing(path, error));
    const files = await Promise.all(
      names
        .toSorted()
        .filter(isModuleName)
        .map((name) => moduleFile(join(place, name))),
    );
    return { entries: files.flat().map((file) => ({ file, setup: {} })) };
  }
  if (!facts.isFile() || !MANIFEST_ENDINGS.includes(extname(place).toLowerCase())) {
    throw planeError('MODULES_MISSING', { path, problem: 'it is neither a folder nor a .yaml, .yml or .json file' });
  }
  if (facts.size > MAX_MANIFEST_BYTES)
    throw planeError('MODULES_MISSING', {
      path,
      problem: `it has ${facts.size} bytes, the limit is ${MAX_MANIFEST_BYTES}`,
    });
  const read = readManifest(place, await readFile(place).catch((error: unknown) => missing(path, error)));
  if (read.kind === 'problem') throw planeError('MODULES_MISSING', { path, problem: read.problem });
  if (read.kind === 'duplicate') {
    const entries = read.entries.map((index) => `modules[${index}]`);
    throw planeError('SETUP_DUPLICATE', { path, setup: read.setup, entries });
  }
  return { entries: read.entries, manifest: place };
}

function isModuleName(name: string): boolean {
  return !name.startsWith('.') && !name.startsWith('_') && name !== 'node_modules';
}

async function moduleFile(path: string): Promise<string[]> {
  const facts = await stat(path).catch(() => undefined);
  // A broken link is listed too: it is meant to be a module, so the loader reports it instead of skipping it.
  if (facts === undefined || facts.isFile()) return CODE_ENDINGS.includes(extname(path)) ? [path] : [];
  if (!facts.isDirectory()) return [];
  for (const ending of CODE_ENDINGS) {
    const index = join(path, `index${ending}`);
    if (
      await stat(index).then(
        (found) => found.isFile(),
        () => false,
      )
    )
      return [index];
  }
  return [];
}

function missing(path: string, error: unknown): never {
  const code = (error as NodeJS.ErrnoException).code;
  const problem =
    code === 'ENOENT' ? 'it does not exist' : code === 'EACCES' ? 'it may not be read' : `it cannot be read (${code})`;
  throw planeError('MODULES_MISSING', { path, problem }, error);
}
