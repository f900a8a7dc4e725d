import { fileURLToPath } from 'node:url';

/** Threads and child processes are started from compiled files: beside this one, or in `dist` when the sources themselves are run. */
export function compiledFile(relativeToSource: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(
    new URL(isSource ? `../../dist/${relativeToSource}` : `../${relativeToSource}`, import.meta.url),
  );
}
