// Prepares a fresh clone, and does nothing when it is already prepared. Uses only node: modules, because it runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { writeBillOfMaterials } from './bill-of-materials.mjs';
import { buildConsole } from './build-console.mjs';
import { compileAll } from './compile.mjs';
import { withLock } from './lock.mjs';
import { isStarted, TOP } from './top.mjs';

/** EX_UNAVAILABLE of sysexits.h: something needed is not available. */
export const EXIT_UNAVAILABLE = 69;

const STAMP = join(TOP, 'node_modules', '.sallyport-setup');
export const OLDEST_NODE = [22, 16];

/** Thrown when set-up cannot continue. The message states what the user has to do. */
export class SetupFailure extends Error {
  constructor(message, exitCode = EXIT_UNAVAILABLE) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints the failure without a stack trace and returns the exit code to end with. */
export function reportFailure(error) {
  if (!(error instanceof SetupFailure)) throw error;
  console.error(`\n${error.message}\n`);
  return error.exitCode;
}

export function say(line) {
  console.log(`setup: ${line}`);
}

/** Runs `work` between two progress lines. The second line shows the time it took. */
async function timed(doing, done, work) {
  say(`${doing} …`);
  const startedMs = Date.now();
  const result = await work();
  say(`${done} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
  return result;
}

/** Runs a program to its end and collects its output instead of printing it. If this process is stopped, it stops the program. */
function capture(command, args, { holdFor, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: TOP, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    if (child.pid !== undefined) holdFor?.(child.pid);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    let stoppedBy;
    const stop = (signal) => {
      stoppedBy = signal;
      child.kill(signal);
    };
    const abandon = () => child.kill();
    process.once('SIGTERM', stop).once('SIGINT', stop).once('exit', abandon);
    const end = (code) => {
      process.off('SIGTERM', stop).off('SIGINT', stop).off('exit', abandon);
      if (stoppedBy) process.exit(stoppedBy === 'SIGINT' ? 130 : 143);
      resolve({ code, output: output.trimEnd() });
    };
    child.once('error', (error) => {
      output += error.message;
      end(127);
    });
    child.once('close', (code) => end(code ?? 1));
  });
}

export function isSupportedNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function ensureNodeVersion() {
  if (isSupportedNode()) return;
  throw new SetupFailure(`Sallyport needs Node ${OLDEST_NODE.join('.')} or newer. This is ${process.versions.node}.`);
}

/**
 * The hash of the lock file that node_modules must have been installed from. The Node.js version is not part of it: no install script
 * runs, and native parts exist for every line.
 */
function wantedStamp() {
  const lock = createHash('sha256')
    .update(readFileSync(join(TOP, 'package-lock.json')))
    .digest('hex');
  return `${lock}\n`;
}

function installedStamp() {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}

/** Installs the packages of the lock file, unless node_modules was installed from exactly this lock file. */
export async function ensureNodeModules() {
  ensureNodeVersion();
  if (isInstalled()) return;
  await withLock('packages', async (holdFor) => {
    if (isInstalled()) return;
    await timed('installing packages (npm ci)', 'packages installed', () => installPackages(holdFor));
  });
}

/** False also when the folder of a package was removed since: without this check the build would fail on it later with an unclear message. */
function isInstalled() {
  if (installedStamp() !== wantedStamp()) return false;
  try {
    const { packages } = JSON.parse(readFileSync(join(TOP, 'node_modules', '.package-lock.json'), 'utf8'));
    return Object.keys(packages).every((folder) => existsSync(join(TOP, folder, 'package.json')));
  } catch {
    return false;
  }
}

async function installPackages(holdFor) {
  // npm would empty the folder behind the link, while another clone may be using it.
  if (lstatSync(join(TOP, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    throw new SetupFailure('node_modules is a link to another folder. Remove it, then run the same command again.');
  rmSync(STAMP, { force: true });
  // `--include=dev`: with NODE_ENV=production npm would leave out the compiler.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const cli = process.env.npm_execpath;
  const { code, output } =
    cli && basename(cli).startsWith('npm-cli')
      ? await capture(process.execPath, [cli, ...args], { holdFor })
      : await capture('npm', args, { holdFor });
  if (code !== 0)
    throw new SetupFailure(`${output}\n\nnpm ci failed. Fix the cause above, then run the same command again.`);
  writeFileSync(STAMP, wantedStamp());
}

/** Builds dist from src, examples, bench, chaos and console, unless nothing changed. Throws SetupFailure with the compiler's messages. */
export async function ensureBuild() {
  const startedMs = Date.now();
  let isAnnounced = false;
  const announce = () => {
    if (!isAnnounced) say('building …');
    isAnnounced = true;
  };
  await withLock('build', async () => {
    for (const build of [compileAll, buildConsole, writeBillOfMaterials]) {
      const built = await build({ announce });
      if (built.kind === 'failed') throw new SetupFailure(`${built.output}\n\nThe build failed.`, 1);
    }
  });
  if (isAnnounced) say(`built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Searches PATH, and the folders where servers are installed that a user's PATH often leaves out. */
export function findProgram(program) {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/local/bin',
    '/usr/bin',
    '/usr/local/sbin',
    '/usr/sbin',
  ];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find(isProgram);
}

/**
 * Finds a system program, or installs it when that is allowed: as root on a Debian-like system.
 * Otherwise throws SetupFailure with the command to run.
 *
 * @param {object} wanted
 * @param {string} wanted.program        name of the executable
 * @param {string} wanted.debianPackage  package which has it on Debian and Ubuntu
 * @param {string} wanted.why            what needs it, e.g. "the tests use a real Redis"
 * @param {Record<string, string>} [wanted.otherPackages]  package names for dnf, apk, pacman, zypper, brew
 * @param {string[]} [wanted.services]   services of the package that must not be left running
 * @param {() => string | undefined} [wanted.find]  how to find it, when not by its name on PATH
 * @returns {Promise<string>} full path of the program
 */
export async function ensureSystemProgram(wanted) {
  const find = wanted.find ?? (() => findProgram(wanted.program));
  const found = find();
  if (found) return found;
  if (!mayInstall()) throw new SetupFailure(missingMessage(wanted));
  return withLock('system', async (holdFor) => {
    const meanwhile = find();
    if (meanwhile) return meanwhile;
    await timed(`installing ${wanted.debianPackage} (${wanted.why})`, `${wanted.debianPackage} installed`, () =>
      aptInstall(wanted, holdFor),
    );
    const installed = find();
    if (!installed)
      throw new SetupFailure(`${wanted.debianPackage} is installed, but ${wanted.program} was not found.`);
    return installed;
  });
}

function mayInstall() {
  return (
    process.getuid?.() === 0 &&
    process.env.SALLYPORT_NO_SYSTEM_INSTALL !== '1' &&
    existsSync('/etc/debian_version') &&
    findProgram('apt-get') !== undefined
  );
}

const INSTALL_COMMANDS = {
  'apt-get': (name) => `apt-get update && sudo apt-get install -y --no-install-recommends ${name}`,
  dnf: (name) => `dnf install -y ${name}`,
  zypper: (name) => `zypper install -y ${name}`,
  pacman: (name) => `pacman -S --noconfirm ${name}`,
  apk: (name) => `apk add ${name}`,
  brew: (name) => `brew install ${name}`,
};

function missingMessage({ program, debianPackage, why, otherPackages = {} }) {
  const manager = Object.keys(INSTALL_COMMANDS).find((name) => findProgram(name)) ?? 'apt-get';
  const packageName = manager === 'apt-get' ? debianPackage : (otherPackages[manager] ?? program);
  const sudo = manager === 'brew' ? '' : 'sudo ';
  return [
    `${program} is missing: ${why}. Install it with`,
    '',
    `    ${sudo}${INSTALL_COMMANDS[manager](packageName)}`,
    '',
    'and run the same command again.',
  ].join('\n');
}

/** Installs without prompts. The package lists are fetched only when the first attempt fails. */
async function aptInstall({ debianPackage, services = [] }, holdFor) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => capture('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, holdFor });
  const install = () => apt('install', '-y', '--no-install-recommends', debianPackage);
  const allowServices = forbidServiceStarts();
  try {
    let result = await install();
    if (result.code !== 0) {
      const update = await apt('update');
      result = await install();
      if (result.code !== 0) {
        throw new SetupFailure(`${update.output}\n${result.output}\n\napt-get could not install ${debianPackage}.`);
      }
    }
    for (const service of services) await stopService(service);
  } finally {
    allowServices();
  }
}

const SERVICE_POLICY = '/usr/sbin/policy-rc.d';
const POLICY_MARK = '# written by sallyport set-up, removed when it ends';

/**
 * Keeps the package from starting its service: Debian runs this file to ask, and exit code 101 means no. A file that the administrator
 * wrote is left alone.
 */
function forbidServiceStarts() {
  if (existsSync(SERVICE_POLICY) && !readFileSync(SERVICE_POLICY, 'utf8').includes(POLICY_MARK)) return () => {};
  writeFileSync(SERVICE_POLICY, `#!/bin/sh\n${POLICY_MARK}\nexit 101\n`, { mode: 0o755 });
  const allow = () => rmSync(SERVICE_POLICY, { force: true });
  process.once('exit', allow);
  return () => {
    process.off('exit', allow);
    allow();
  };
}

/** Stops a service that the installation started or enabled. The program was missing a moment ago, so the service is not the user's. */
async function stopService(service) {
  if (findProgram('systemctl')) await capture('systemctl', ['disable', '--now', service]);
  else if (isProgram(`/etc/init.d/${service}`)) await capture(`/etc/init.d/${service}`, ['stop']);
}

/** The Redis server for the tests: found or installed, never started as a service. */
export function ensureRedisServer() {
  return ensureSystemProgram({
    program: 'redis-server',
    debianPackage: 'redis-server',
    why: 'the tests use a real Redis',
    otherPackages: { dnf: 'redis', zypper: 'redis', pacman: 'redis', apk: 'redis', brew: 'redis' },
    services: ['redis-server'],
  });
}

/** Debian keeps PostgreSQL's programs in one folder per version, and puts only some of them on the PATH. */
function findPostgres() {
  const versions = '/usr/lib/postgresql';
  const installed = existsSync(versions) ? readdirSync(versions).sort((one, other) => Number(other) - Number(one)) : [];
  const bins = [...installed.map((version) => join(versions, version, 'bin')), dirname(findProgram('initdb') ?? '/')];
  return bins
    .map((bin) => join(bin, 'postgres'))
    .find((file) => isProgram(file) && isProgram(join(dirname(file), 'initdb')));
}

/** The PostgreSQL server for the tests: found or installed, never started as a service. */
export function ensurePostgres() {
  return ensureSystemProgram({
    program: 'postgres',
    debianPackage: 'postgresql',
    why: 'the tests use a real PostgreSQL',
    otherPackages: {
      dnf: 'postgresql-server',
      zypper: 'postgresql-server',
      pacman: 'postgresql',
      apk: 'postgresql',
      brew: 'postgresql@17',
    },
    services: ['postgresql'],
    find: findPostgres,
  });
}

/** The browser for the tests, which use the console in a real one. */
export function ensureChromium() {
  return ensureSystemProgram({
    program: 'chromium',
    debianPackage: 'chromium',
    why: 'the tests use the console in a real browser',
    otherPackages: { dnf: 'chromium', zypper: 'chromium', pacman: 'chromium', apk: 'chromium', brew: 'chromium' },
    find: () => CHROMIUM_NAMES.map(findProgram).find((file) => file !== undefined),
  });
}

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const NODE24 = join(TOP, 'tools', 'node24');

/** Installs the packages of a folder below tools/, from its own lock file. `what` is shown in the progress line. */
export async function ensurePackages({ folder, lock, what }) {
  const stamp = join(folder, 'node_modules', '.sallyport-setup');
  const wanted = `${createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')}\n`;
  const isInstalled = () => {
    // A link leads to the packages of another clone and counts as installed: npm would follow it and replace them.
    if (lstatSync(join(folder, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
    try {
      return readFileSync(stamp, 'utf8') === wanted;
    } catch {
      return false;
    }
  };
  if (isInstalled()) return;
  await withLock(lock, async (holdFor) => {
    if (isInstalled()) return;
    await timed(`installing ${what} (npm ci)`, `${what} installed`, async () => {
      // `--engine-strict=false`: npm passes the project's settings on to its child processes, and these packages are for another Node.js.
      const args = ['ci', '--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund'];
      const { code, output } = await capture('npm', args, { holdFor, cwd: folder });
      if (code !== 0)
        throw new SetupFailure(`${output}\n\nnpm ci failed in ${folder}. Fix the cause above, then run it again.`);
      writeFileSync(stamp, wanted);
    });
  });
}

/**
 * Installs the MCP programs of the tests, which need a newer Node.js than the product, and that Node.js, on demand from their own lock
 * file. Returns the paths to start them with.
 */
export async function ensureNode24() {
  await ensurePackages({ folder: NODE24, lock: 'node24', what: 'the MCP conformance suite' });
  const bin = (name) => join(NODE24, 'node_modules', '.bin', name);
  return { node: bin('node'), conformance: bin('conformance'), inspector: bin('mcp-inspector') };
}

if (isStarted(import.meta.url) && process.argv[2] === '--node24') {
  try {
    const programs = await ensureNode24();
    // This must be the last line: the process that started this script reads it.
    console.log(JSON.stringify(programs));
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
} else if (isStarted(import.meta.url)) {
  try {
    await ensureNodeModules();
    await ensureBuild();
    await ensureRedisServer();
    await ensurePostgres();
    await ensureChromium();
    say('ready');
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
