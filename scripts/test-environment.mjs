// What the tests need in addition to the packages: the programs they start, found or installed, and the variables that name their paths.
import { delimiter, dirname, join } from 'node:path';
import { ensureChromium, ensurePostgres, ensureRedisServer } from './setup.mjs';
import { TOP } from './top.mjs';

/** The environment variables of a test run. */
export async function testEnvironment() {
  const redisServer = await ensureRedisServer();
  return {
    ...process.env,
    SALLYPORT_REDIS_SERVER: redisServer,
    SALLYPORT_POSTGRES: await ensurePostgres(),
    SALLYPORT_CHROMIUM: await ensureChromium(),
    PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
    // The tests start hundreds of processes from the same few files, so compiled code is cached.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(TOP, 'node_modules', '.cache', 'sallyport-compiled'),
  };
}
