import { pathToFileURL } from 'node:url';
import type { ModuleDefinition } from './define-module.ts';
import { offerOwnPackage } from '../../base/own-package.ts';

/**
 * The URL under which one generation of a module file is imported. Node evaluates each URL once per process; changed code has another
 * generation and so another URL.
 */
export function moduleUrl(source: { readonly file: string; readonly generation: string }): string {
  return `${pathToFileURL(source.file).href}?${encodeURIComponent(source.generation)}`;
}

/**
 * Imported modules by URL, in addition to Node's own cache. With loader hooks, Node looks for the file at each import, so a module whose
 * file was deleted could no longer run although it is in memory. Node never releases an imported module either, so this map does not keep
 * anything in memory longer.
 */
const imported = new Map<string, Promise<ModuleDefinition>>();
/**
 * Imported modules by the source object that names them, so that a call does not have to go through the module loader. A reload makes a new
 * source object.
 */
const loaded = new WeakMap<object, ModuleDefinition>();

/** The module, if `importModule` was called with this same object before and has finished. */
export function loadedModule(source: object): ModuleDefinition | undefined {
  return loaded.get(source);
}

/**
 * Imports the module file, which runs its code. It rejects with whatever that code throws, and takes as long as its top-level awaits do.
 */
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
