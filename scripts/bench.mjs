// `npm run bench -- <name> [arguments]`: sets up, builds, and runs dist/bench/<name>.js. Without a name it lists them.
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNode24, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const SOURCES = join(TOP, 'bench');
/** These compare with a program that needs a newer Node.js, which is installed on demand. */
const NEED_NODE24 = ['mcp', 'all'];

const [name, ...args] = process.argv.slice(2);
const names = readdirSync(SOURCES)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

/** The first line of a bench says what it is about. */
function list() {
  const widest = Math.max(...names.map(({ length }) => length));
  const about = (each) => /^\/\/ (.*)/.exec(readFileSync(join(SOURCES, `${each}.ts`), 'utf8'))?.[1] ?? '';
  return [
    'npm run bench -- NAME [options]; each explains itself with --help.',
    '',
    ...names.map((each) => `  ${each.padEnd(widest)}  ${about(each)}`),
    '',
    'All at once: npm run bench -- all --json, then compare and plot with the file that it writes.',
  ].join('\n');
}

async function run() {
  await ensureNodeModules();
  await ensureBuild();
  const redisServer = await ensureRedisServer();
  if (NEED_NODE24.includes(name) && !args.includes('--help')) await withoutProxyIfNeeded();
  const env = {
    ...process.env,
    SALLYPORT_REDIS_SERVER: redisServer,
    PATH: [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter),
  };
  const file = join(TOP, 'dist/bench', `${name}.js`);
  return runChild(process.execPath, [file, ...args], { cwd: TOP, env });
}

/** Without a network the other variants can still be measured; the report says what is missing. */
async function withoutProxyIfNeeded() {
  try {
    await ensureNode24();
  } catch (error) {
    reportFailure(error);
  }
}

if (name === '--help' || name === '-h') console.log(list());
else if (name === undefined || !names.includes(name)) {
  console.error(name === undefined ? list() : `There is no bench "${name}".\n\n${list()}`);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await run();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
