// `npm run soak:audit [-- --calls 10000] [--store redis]`: sets up, builds, and runs test/audit/kill-soak.test.ts in its full size.
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, ensurePostgres, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const FEWEST_CALLS = 200;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '10000' }, store: { type: 'string' } } });
const stores = ['redis', 'embedded'];
const isCount = /^\d{1,6}$/.test(values.calls) && Number(values.calls) >= FEWEST_CALLS;
if (!isCount || (values.store !== undefined && !stores.includes(values.store))) {
  console.error(`npm run soak:audit [-- --calls 10000 (at least ${FEWEST_CALLS})] [--store ${stores.join('|')}]`);
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
    SALLYPORT_POSTGRES: await ensurePostgres(),
    PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
  };
  const only = values.store === undefined ? [] : ['--testNamePattern', `of calls on ${values.store}`];
  const args = ['run', '--project', 'integration', 'test/audit/kill-soak.test.ts', ...only];
  const vitest = join(TOP, 'node_modules/vitest/vitest.mjs');
  process.exitCode = await runChild(process.execPath, [vitest, ...args], { cwd: TOP, env });
} catch (error) {
  process.exitCode = reportFailure(error);
}
