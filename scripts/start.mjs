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

/** Fewer collections; see docs/operations.md. It can only be given at the start of a process, and the user's own wish goes first. */
function roomForYoungObjects() {
  return /semi[-_]space/.test(process.env.NODE_OPTIONS ?? '') ? [] : ['--max-semi-space-size=64'];
}
