// `npm run bench -- <name> [arguments]`: sets up, builds, and runs dist/bench/<name>.js. Without a name it lists them.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNode24, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const SOURCES = join(TOP, 'bench');
/**
 * Batch scheduling, as the services of `deploy/` run: a process that wakes up does not interrupt the one that is running. It applies
 * to all variants of a bench.
 */
const BATCH = ['chrt', '--batch', '0'];
/** These benches compare with a program that needs a newer Node.js, which is installed on demand. */
const NEED_NODE24 = ['mcp', 'all'];

const { scheduling, given } = takeScheduling(process.argv.slice(2));
const [name, ...args] = given;
const names = readdirSync(SOURCES)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

function takeScheduling(given) {
  const at = given.indexOf('--scheduling');
  return at === -1
    ? { scheduling: 'batch', given }
    : { scheduling: given[at + 1], given: given.filter((_, index) => index !== at && index !== at + 1) };
}

/** Adds chrt to the command. Where chrt is missing (only Linux has it), the usual scheduling is measured; reports state which one it was. */
function withScheduling(command) {
  if (scheduling !== 'batch') return command;
  const [chrt, ...rest] = BATCH;
  return spawnSync(chrt, [...rest, 'true'], { stdio: 'ignore' }).status === 0 ? [...BATCH, ...command] : command;
}

/** Lists all benches. The first line of each bench file is a comment that describes it. */
function list() {
  const widest = Math.max(...names.map(({ length }) => length));
  const about = (each) => /^\/\/ (.*)/.exec(readFileSync(join(SOURCES, `${each}.ts`), 'utf8'))?.[1] ?? '';
  return [
    'npm run bench -- NAME [options]; each explains itself with --help.',
    '',
    ...names.map((each) => `  ${each.padEnd(widest)}  ${about(each)}`),
    '',
    'All processes run with batch scheduling (chrt --batch), as the services of deploy/ do; with --scheduling usual they do not.',
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
  const [program, ...rest] = withScheduling([process.execPath, file, ...args]);
  return runChild(program, rest, { cwd: TOP, env });
}

/** Installs Node 24. If that fails, for example without a network, the other variants are still measured; the report states what is missing. */
async function withoutProxyIfNeeded() {
  try {
    await ensureNode24();
  } catch (error) {
    reportFailure(error);
  }
}

if (!['batch', 'usual'].includes(scheduling)) {
  console.error('--scheduling is batch or usual.');
  process.exitCode = 2;
} else if (name === '--help' || name === '-h') console.log(list());
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
