import { fileURLToPath } from 'node:url';

/**
 * The path of a compiled file. Threads and child processes are started from compiled files: from the same build as this file, or from `dist`
 * when the sources themselves are run.
 */
export function compiledFile(relativeToSource: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(
    new URL(isSource ? `../../dist/${relativeToSource}` : `../${relativeToSource}`, import.meta.url),
  );
}
