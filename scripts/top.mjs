import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the repository. */
export const TOP = dirname(dirname(fileURLToPath(import.meta.url)));

/** The bill of materials and the licence texts, below dist. */
export const BILL_FILES = ['sbom.cdx.json', 'third-party-licenses.txt'];

/**
 * Reads a file that the build depends on, without the version of this package: the built code does not depend on it, so a release is
 * not compiled again.
 */
export function readBuildInput(file) {
  const content = readFileSync(join(TOP, file));
  if (file !== 'package.json' && file !== 'package-lock.json') return content;
  const { version: _, ...rest } = JSON.parse(content);
  if (rest.packages !== undefined) delete rest.packages[''].version;
  return JSON.stringify(rest);
}

/** True if this script was started directly, not imported. Takes the script's `import.meta.url`. */
export function isStarted(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}
