// Runs in the loader thread of a tool's process whose files were changed after they were loaded: what was loaded is what runs, under
// its own address, so that its imports and `import.meta.url` stay as they were.
import { existsSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { formatOf, type LoadedCode } from './code-format.ts';

let code: LoadedCode = {};

export const initialize: InitializeHook<LoadedCode> = (given) => {
  code = given;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  const url = addressOf(specifier, context.parentURL);
  // Only a file that is gone: everything else is found as ever.
  if (url === undefined || codeAt(url) === undefined || existsSync(fileURLToPath(url))) return next(specifier, context);
  return { url, format: formatOf(fileURLToPath(url), code), shortCircuit: true };
};

export const load: LoadHook = async (url, context, next) => {
  const source = codeAt(url);
  if (source === undefined) return next(url, context);
  // A copy: what is returned moves to the other thread.
  return {
    format: context.format ?? formatOf(fileURLToPath(url), code),
    source: Uint8Array.from(source),
    shortCircuit: true,
  };
};

function addressOf(specifier: string, parent: string | undefined): string | undefined {
  if (specifier.startsWith('file:')) return specifier;
  return specifier.startsWith('.') && parent !== undefined ? new URL(specifier, parent).href : undefined;
}

function codeAt(url: string): Uint8Array | undefined {
  return url.startsWith('file:') ? code[fileURLToPath(url)] : undefined;
}
