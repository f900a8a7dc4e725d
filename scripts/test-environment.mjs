// What the tests need besides the packages: the programs they start, found or installed, and where they look for them.
import { delimiter, dirname, join } from 'node:path';
import { ensureChromium, ensurePostgres, ensureRedisServer } from './setup.mjs';
import { TOP } from './top.mjs';

/** The environment of a test run. */
export async function testEnvironment() {
  const redisServer = await ensureRedisServer();
  return {
    ...process.env,
    SALLYPORT_REDIS_SERVER: redisServer,
    SALLYPORT_POSTGRES: await ensurePostgres(),
    SALLYPORT_CHROMIUM: await ensureChromium(),
    PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
    // Hundreds of processes are started, all of the same few files.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(TOP, 'node_modules', '.cache', 'sallyport-compiled'),
  };
}
