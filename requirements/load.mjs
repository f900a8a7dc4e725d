// The manifest is TypeScript, as the list of mutants it names is; this loads both into a script, without a build.
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { TOP } from '../scripts/top.mjs';

/** @returns {Promise<typeof import('./main.ts')>} */
export async function loadRequirements() {
  const options = { configFile: false, root: TOP, logLevel: 'error' };
  const { module } = await runnerImport(join(TOP, 'requirements/main.ts'), options);
  return module;
}
