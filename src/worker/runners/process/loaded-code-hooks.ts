// Runs in the loader thread of a tool's process if files were changed after the worker loaded them. The process then runs the content that
// was loaded. Each file keeps its URL, so that its imports and `import.meta.url` stay the same.
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
  // Only a loaded file that no longer exists is resolved here; Node resolves everything else.
  if (url === undefined || codeAt(url) === undefined || existsSync(fileURLToPath(url))) return next(specifier, context);
  return { url, format: formatOf(fileURLToPath(url), code), shortCircuit: true };
};

export const load: LoadHook = async (url, context, next) => {
  const source = codeAt(url);
  if (source === undefined) return next(url, context);
  // A copy, because the returned buffer is moved to the other thread.
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
