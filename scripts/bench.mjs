// `npm run bench -- <name> [arguments]`: sets up, builds, and runs dist/bench/<name>.js. Without a name it lists them.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const folder = join(TOP, 'dist/bench');

try {
  await ensureNodeModules();
  await ensureBuild();
  const redisServer = await ensureRedisServer();
  const [name, ...args] = process.argv.slice(2);
  const file = join(folder, `${name}.js`);
  if (name && existsSync(file)) {
    const env = {
      ...process.env,
      SALLYPORT_REDIS_SERVER: redisServer,
      PATH: `${process.env.PATH}:${dirname(redisServer)}`,
    };
    process.exitCode = await runChild(process.execPath, [file, ...args], { cwd: TOP, env });
  } else {
    const names = existsSync(folder) ? readdirSync(folder).filter((entry) => entry.endsWith('.js')) : [];
    console.error(`Say which bench: ${names.map((entry) => entry.slice(0, -3)).join(', ') || 'there are none yet'}`);
    process.exitCode = 2;
  }
} catch (error) {
  process.exitCode = reportFailure(error);
}
