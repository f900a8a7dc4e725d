// `npm run chaos [-- options]`: sets up, builds, and runs dist/chaos/main.js. `--help` lists the options.
import { delimiter, dirname, join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

try {
  await ensureNodeModules();
  await ensureBuild();
  const redisServer = await ensureRedisServer();
  const env = {
    ...process.env,
    SALLYPORT_REDIS_SERVER: redisServer,
    PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
  };
  const file = join(TOP, 'dist/chaos/main.js');
  process.exitCode = await runChild(process.execPath, [file, ...process.argv.slice(2)], { cwd: TOP, env });
} catch (error) {
  process.exitCode = reportFailure(error);
}
