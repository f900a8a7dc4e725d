import Module, { createRequire, register } from 'node:module';

/** Whether an import names this package, alone or with a subpath. */
export function isOwnName(specifier: string): boolean {
  return /^sallyport(?:\/|$)/.test(specifier);
}

interface Resolver {
  /** The internal function with which `require` finds a file. Node has no public way to add a folder to the search. */
  _resolveFilename(request: string, ...rest: unknown[]): string;
}

/** Node's loader hooks are registered for the whole process and cannot be removed. */
let registered = false;

/**
 * Lets the module `file` import `sallyport` and its subpaths from the running installation, if Node finds no such package from there: a
 * module in /opt or in a container's volume has no node_modules above it. If Node finds a package there, that one is used.
 */
export function offerOwnPackage(file: string): void {
  if (registered || findsPackage(file)) return;
  registered = true;
  // When compiled, this file's URL is inside the package. Resolved from there, the package's own name leads to its own exports.
  register(hooksFile(), import.meta.url, { data: { from: import.meta.url } });
  offerToRequire();
}

/** The file with the loader hooks: next to this file when compiled; in `dist` when the sources themselves are run, as the tests do. */
function hooksFile(): string {
  return import.meta.url.endsWith('.ts') ? '../../dist/base/own-package-hooks.js' : './own-package-hooks.js';
}

function findsPackage(file: string): boolean {
  try {
    createRequire(file).resolve('sallyport/package.json');
    return true;
  } catch {
    return false;
  }
}

/** Makes `sallyport` available to `require` too, which does not pass through the loader hooks. */
function offerToRequire(): void {
  const resolver = Module as unknown as Resolver;
  const plain = resolver._resolveFilename.bind(Module);
  const own = createRequire(import.meta.url);
  resolver._resolveFilename = (request, ...rest) => {
    try {
      return plain(request, ...rest);
    } catch (error) {
      if (isOwnName(request) && (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND')
        return own.resolve(request);
      throw error;
    }
  };
}
