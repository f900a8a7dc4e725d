import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the repository. */
export const TOP = dirname(dirname(fileURLToPath(import.meta.url)));

/** True when the script of this `import.meta.url` was started itself, not imported. */
export function isStarted(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}
