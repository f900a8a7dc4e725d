// `npm run chaos:mutants [-- --only id,… --jobs 2 --json --table | --list]`: plants known bugs into a copy of the tree, one at
// a time, and shows that the tests named for each bug turn red. The tree itself is never changed. See docs/proofs/mutants.md.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuild, ensureNodeModules, ensureRedisServer, reportFailure, SetupFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const args = process.argv.slice(2);

/** Compiles the runner, which is TypeScript. Its output is not part of the package. */
function compileRunner() {
  const compiler = join(TOP, 'node_modules/@typescript/native/bin/tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(TOP, 'mutants/tsconfig.json'), '--pretty', 'false'],
    { cwd: TOP, encoding: 'utf8' },
  );
  if (status !== 0) throw new SetupFailure(`mutants/ does not compile:\n${stdout}`, 1);
  return join(TOP, 'dist/.build/mutants/main.js');
}

/** Provides what tests need: a Redis server and a build. `--list` needs neither. */
async function prepare() {
  const redisServer = await ensureRedisServer();
  await ensureBuild();
  process.env.SALLYPORT_REDIS_SERVER = redisServer;
  process.env.PATH = [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter);
}

// With --json, standard output holds only the result; everything else goes to standard error.
const print = console.log;
if (args.includes('--json')) console.log = console.error;
try {
  await ensureNodeModules();
  const { main } = await import(pathToFileURL(compileRunner()).href);
  process.exitCode = await main({ project: TOP, args, prepare, print });
} catch (error) {
  process.exitCode = reportFailure(error);
}
