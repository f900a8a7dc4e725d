import { pathToFileURL } from 'node:url';
import type { ModuleDefinition } from './define-module.ts';
import { offerOwnPackage } from '../../base/own-package.ts';

/** The URL of one generation of a module file. Each URL is evaluated once per process; a reload makes a new generation, hence a new URL. */
export function moduleUrl(source: { readonly file: string; readonly generation: string }): string {
  return `${pathToFileURL(source.file).href}?${encodeURIComponent(source.generation)}`;
}

/**
 * Imported modules by URL. Node's own cache does not suffice: with loader hooks each import looks for the file again, and a module whose
 * file is gone could not be run although it is in memory. Node keeps every imported module as well, so nothing is held longer than before.
 */
const imported = new Map<string, Promise<ModuleDefinition>>();
/** The same by the object that names the source; a reload makes another object. Saves every call the way through the module loader. */
const loaded = new WeakMap<object, ModuleDefinition>();

/** The module, if `importModule` was called with this same object before and has finished. */
export function loadedModule(source: object): ModuleDefinition | undefined {
  return loaded.get(source);
}

/** Runs the module file. It may throw whatever its code throws, and take as long as its top-level awaits do. */
export function importModule(source: {
  readonly file: string;
  readonly generation: string;
}): Promise<ModuleDefinition> {
  const url = moduleUrl(source);
  let module = imported.get(url);
  if (module === undefined) {
    module = importOnce(source.file, url);
    imported.set(url, module);
    module.catch(() => imported.delete(url));
  }
  module.then(
    (definition) => loaded.set(source, definition),
    () => undefined,
  );
  return module;
}

async function importOnce(file: string, url: string): Promise<ModuleDefinition> {
  offerOwnPackage(file);
  const { default: exported } = (await import(url)) as { default?: unknown };
  if (typeof exported !== 'object' || exported === null) throw new TypeError('the module file has no default export');
  return exported as ModuleDefinition;
}
