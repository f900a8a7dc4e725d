// `npm start`: sets up, builds, and runs the embedded plane with the example modules until Ctrl-C.
import { join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

try {
  await ensureNodeModules();
  await ensureBuild();
  process.exitCode = await runChild(process.execPath, [
    join(TOP, 'dist/cli/main.js'),
    'dev',
    '--modules',
    join(TOP, 'dist/examples/modules'),
    ...process.argv.slice(2),
  ]);
} catch (error) {
  process.exitCode = reportFailure(error);
}
