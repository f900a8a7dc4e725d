// `npm run test:redis [-- --server redis-8|valkey-8]`: runs the contract suite and test/redis on a newer server than the machine's
// own. The servers are Debian's packages of the suite trixie, whose signatures apt verifies. They are unpacked below
// tools/redis-servers with their libraries.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { withLock } from './lock.mjs';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, ensureSystemProgram, reportFailure, say, SetupFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const CACHE = join(TOP, 'tools', 'redis-servers');
const SUITE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const TESTS = ['test/contract/redis.test.ts', 'test/contract/redis-cluster.test.ts', 'test/redis/'];

/** `prefix` is the beginning of the server's program names. The tests start them as redis-server and redis-cli. */
const SERVERS = {
  'redis-8': { prefix: 'redis', major: 8 },
  'valkey-8': { prefix: 'valkey', major: 8 },
};

/** Unpacks the packages and all their dependencies, without running any of their code. */
async function fetchServer(name) {
  const folder = join(CACHE, name);
  const { prefix } = SERVERS[name];
  await withLock(name, async () => {
    if (existsSync(join(folder, 'bin'))) return;
    await ensureSystemProgram({
      program: 'mmdebstrap',
      debianPackage: 'mmdebstrap',
      why: `${name} is unpacked from Debian ${SUITE}`,
    });
    say(`fetching ${name} from Debian ${SUITE} …`);
    mkdirSync(folder, { recursive: true });
    rmSync(join(folder, 'root'), { recursive: true, force: true });
    const packages = `--include=${prefix}-server,${prefix}-tools`;
    const args = ['--quiet', '--variant=extract', packages, SUITE, join(folder, 'root'), MIRROR];
    const { status, stderr } = spawnSync('mmdebstrap', args, { encoding: 'utf8' });
    if (status !== 0) throw new SetupFailure(`${stderr}\nmmdebstrap could not unpack ${name}.`);
    writePrograms(folder, prefix);
  });
  return join(folder, 'bin');
}

/** Writes start scripts for the programs. They need the loader and the libraries of their own root, because those of this machine are older. */
function writePrograms(folder, prefix) {
  const root = join(folder, 'root');
  const [loader] = readdirSync(join(root, 'usr/lib64')).filter((file) => file.startsWith('ld-linux'));
  const libraries = readdirSync(join(root, 'usr/lib')).find((file) => file.endsWith('-linux-gnu'));
  const unfinished = join(folder, 'bin.new');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  const programs = readdirSync(join(root, 'usr/bin')).filter((file) => file.startsWith(`${prefix}-`));
  for (const program of programs) {
    const file = join(unfinished, program.replace(prefix, 'redis'));
    const start = `"$root/usr/lib64/${loader}" --argv0 "$0" --library-path "$root/usr/lib/${libraries}" "$root/usr/bin/${program}" "$@"`;
    writeFileSync(file, `#!/bin/sh\nroot=$(dirname "$(dirname "$0")")/root\nexec ${start}\n`);
    chmodSync(file, 0o755);
  }
  renameSync(unfinished, join(folder, 'bin'));
}

async function testOn(name) {
  const bin = await fetchServer(name);
  const version = execFileSync(join(bin, 'redis-server'), ['--version'], { encoding: 'utf8' });
  const [, found] = /\bv=(\d+\.\d+\.\d+)/.exec(version) ?? [];
  if (Number(found?.split('.')[0]) !== SERVERS[name].major)
    throw new SetupFailure(`Debian ${SUITE} has no ${name} any more: this is ${version.trim()}`);
  console.log(`\n== ${name}: version ${found}`);
  const env = {
    ...process.env,
    SALLYPORT_REDIS_SERVER: join(bin, 'redis-server'),
    PATH: [bin, process.env.PATH].filter(Boolean).join(delimiter),
  };
  const vitest = join(TOP, 'node_modules/vitest/vitest.mjs');
  return runChild(process.execPath, [vitest, 'run', '--project', 'integration', ...TESTS], { cwd: TOP, env });
}

function readNames() {
  try {
    const { values } = parseArgs({ options: { server: { type: 'string' } } });
    if (values.server === undefined) return Object.keys(SERVERS);
    if (Object.hasOwn(SERVERS, values.server)) return [values.server];
  } catch {
    // An unknown option: the usage below lists the known ones.
  }
  console.error(`npm run test:redis [-- --server ${Object.keys(SERVERS).join('|')}]`);
  return process.exit(2);
}

const names = readNames();
const counts = { passed: 0, failed: 0 };
try {
  await ensureNodeModules();
  await ensureBuild();
  for (const name of names) counts[(await testOn(name)) === 0 ? 'passed' : 'failed'] += 1;
  process.exitCode = counts.failed === 0 ? 0 : 1;
} catch (error) {
  counts.failed += 1;
  process.exitCode = reportFailure(error);
}
console.log(`\nServers: ${counts.passed} passed, ${counts.failed} failed`);
