import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the repository. */
export const TOP = dirname(dirname(fileURLToPath(import.meta.url)));

/** The bill of materials and the licence texts, below dist. */
export const BILL_FILES = ['sbom.cdx.json', 'third-party-licenses.txt'];

/** A file that the build depends on. The code that it makes does not depend on our own version: a release is not compiled again. */
export function readBuildInput(file) {
  const content = readFileSync(join(TOP, file));
  if (file !== 'package.json' && file !== 'package-lock.json') return content;
  const { version: _, ...rest } = JSON.parse(content);
  if (rest.packages !== undefined) delete rest.packages[''].version;
  return JSON.stringify(rest);
}

/** True when the script of this `import.meta.url` was started itself, not imported. */
export function isStarted(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}
