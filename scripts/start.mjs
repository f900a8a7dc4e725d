// `npm start`: sets up, builds, and runs the embedded plane with the example modules until Ctrl-C.
import { join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

try {
  await ensureNodeModules();
  await ensureBuild();
  process.exitCode = await runChild(process.execPath, [
    ...roomForYoungObjects(),
    join(TOP, 'dist/cli/main.js'),
    'dev',
    '--modules',
    join(TOP, 'dist/examples/modules'),
    ...process.argv.slice(2),
  ]);
} catch (error) {
  process.exitCode = reportFailure(error);
}

/**
 * A larger space for young objects means fewer garbage collections; see docs/operations.md. It can only be set when a process starts.
 * A value in the user's NODE_OPTIONS takes precedence.
 */
function roomForYoungObjects() {
  return /semi[-_]space/.test(process.env.NODE_OPTIONS ?? '') ? [] : ['--max-semi-space-size=64'];
}
