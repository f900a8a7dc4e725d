import { pathToFileURL } from 'node:url';
import type { ModuleDefinition } from './define-module.ts';
import { offerOwnPackage } from '../../base/own-package.ts';

/** The URL of one generation of a module file. Each URL is evaluated once per process; a reload makes a new generation, hence a new URL. */
export function moduleUrl(source: { readonly file: string; readonly generation: string }): string {
  return `${pathToFileURL(source.file).href}?${encodeURIComponent(source.generation)}`;
}

/**
 * Imported modules, by the object that names the source; a reload makes another object. Saves every call the way through the module loader.
 */
const imported = new WeakMap<object, Promise<ModuleDefinition>>();
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
  let module = imported.get(source);
  if (module === undefined) {
    module = importOnce(source);
    imported.set(source, module);
    module.then(
      (definition) => loaded.set(source, definition),
      () => imported.delete(source),
    );
  }
  return module;
}

async function importOnce(source: { readonly file: string; readonly generation: string }): Promise<ModuleDefinition> {
  offerOwnPackage(source.file);
  const { default: exported } = (await import(moduleUrl(source))) as { default?: unknown };
  if (typeof exported !== 'object' || exported === null) throw new TypeError('the module file has no default export');
  return exported as ModuleDefinition;
}
