// The common part of the `npm run soak:…` commands: options, set-up, build, and one test file at its full size.
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const STORES = ['redis', 'embedded'];

/** `title` comes before the store's name in the titles of the tests. `prepare` returns additional environment variables for them. */
export async function runSoak({ name, calls, fewestCalls, file, title, prepare = async () => ({}) }) {
  const { values } = parseArgs({ options: { calls: { type: 'string', default: calls }, store: { type: 'string' } } });
  const isCount = /^\d{1,6}$/.test(values.calls) && Number(values.calls) >= fewestCalls;
  if (!isCount || (values.store !== undefined && !STORES.includes(values.store))) {
    console.error(`npm run ${name} [-- --calls ${calls} (at least ${fewestCalls})] [--store ${STORES.join('|')}]`);
    process.exit(2);
  }
  try {
    await ensureNodeModules();
    await ensureBuild();
    const redisServer = await ensureRedisServer();
    const env = {
      ...process.env,
      SALLYPORT_SOAK_CALLS: values.calls,
      SALLYPORT_REDIS_SERVER: redisServer,
      PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
      ...(await prepare()),
    };
    const only = values.store === undefined ? [] : ['--testNamePattern', `${title} ${values.store}`];
    const args = ['run', '--project', 'integration', file, ...only];
    const vitest = join(TOP, 'node_modules/vitest/vitest.mjs');
    process.exitCode = await runChild(process.execPath, [vitest, ...args], { cwd: TOP, env });
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
