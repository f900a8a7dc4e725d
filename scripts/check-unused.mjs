// `npm run check:unused`: knip twice. First everything that nothing uses, then what only tests use: `--production` leaves out the entries of
// knip.json without a `!`. An export that a test needs on purpose, while its own file uses it too, is marked `@internal`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { TOP } from './top.mjs';

const KNIP = join(TOP, 'node_modules/knip/bin/knip.js');
const RUNS = [
  { title: 'used by nothing', args: [] },
  // Dependencies are checked by the first run. In this one they would all count as unused, because `dist/` uses them.
  { title: 'used only by tests', args: ['--production', '--include', 'files,exports,types'] },
];

process.exitCode = 0;
for (const { title, args } of RUNS) {
  const { status } = spawnSync(process.execPath, [KNIP, '--no-progress', ...args], { cwd: TOP, stdio: 'inherit' });
  console.log(`${title}: ${status === 0 ? 'none' : 'see above'}`);
  if (status !== 0) process.exitCode = 1;
}
