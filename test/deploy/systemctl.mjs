// Stands in for systemctl in test/deploy/journey.test.ts. It reads the unit files below $JOURNEY_ROOT and starts what ExecStart says, with
// the environment, the credentials and the folders that the unit names. It does not confine: users, capabilities and namespaces are checked
// by systemd-analyze in units.test.ts.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = process.env.JOURNEY_ROOT;
const state = join(root, 'run');
mkdirSync(state, { recursive: true });

/** The distribution's own unit, as Debian ships it; this repository has none. */
const REDIS_UNIT = `[Service]
ExecStart=/usr/bin/redis-server ${root}/etc/redis/redis.conf --daemonize no
TimeoutStopSec=30
`;

function readUnit(name) {
  if (name === 'redis-server') return REDIS_UNIT;
  const [family, instance] = name.split('@');
  const file = `${family}${instance === undefined ? '' : '@'}.service`;
  return readFileSync(join(root, 'etc/systemd/system', file), 'utf8');
}

const pidFile = (name) => join(state, `${name}.pid`);
const pidOf = (name) => (existsSync(pidFile(name)) ? Number(readFileSync(pidFile(name), 'utf8')) : undefined);

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function start(name) {
  const running = pidOf(name);
  if (running !== undefined && isAlive(running)) return;
  const text = readUnit(name);
  const credentials = join(state, 'credentials', name);
  const specifiers = { '%i': name.split('@')[1] ?? '', '%d': credentials, '%S': join(root, 'var/lib') };
  const expand = (value) => value.replaceAll(/%[idS]/g, (found) => specifiers[found]);
  const all = (setting) =>
    [...text.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value]) => expand(value.trim()));
  for (const credential of all('LoadCredential')) {
    const [id, ...path] = credential.split(':');
    mkdirSync(credentials, { recursive: true, mode: 0o700 });
    copyFileSync(path.join(':'), join(credentials, id));
  }
  for (const folder of all('StateDirectory'))
    mkdirSync(join(root, 'var/lib', folder), { recursive: true, mode: 0o700 });
  const given = Object.fromEntries(
    all('Environment').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const [program, ...args] = all('ExecStart')[0].split(/\s+/);
  const log = openSync(join(state, `${name}.log`), 'a');
  const child = spawn(program, args, {
    cwd: all('WorkingDirectory')[0] ?? root,
    // A unit inherits nothing of the shell that starts it.
    env: { PATH: process.env.PATH, CREDENTIALS_DIRECTORY: credentials, ...given },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  writeFileSync(pidFile(name), String(child.pid));
  child.unref();
}

async function stop(name) {
  const pid = pidOf(name);
  if (pid === undefined) return;
  if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  const patienceMs = 1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(readUnit(name))?.[1] ?? 90);
  const endsAt = Date.now() + patienceMs;
  while (isAlive(pid)) {
    if (Date.now() > endsAt) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  rmSync(pidFile(name));
}

const [verb, ...rest] = process.argv.slice(2);
const units = rest.filter((word) => !word.startsWith('-')).map((word) => word.replace(/\.service$/, ''));
if (verb === 'daemon-reload' || verb === 'reset-failed') process.exit(0);
if (!['restart', 'stop', 'start'].includes(verb) && !(verb === 'enable' && rest.includes('--now'))) {
  console.error(`this stand-in for systemctl has no ${verb}`);
  process.exit(1);
}
await Promise.all(
  units.map(async (unit) => {
    if (verb === 'restart' || verb === 'stop') await stop(unit);
    if (verb !== 'stop') start(unit);
  }),
);
// A real service manager returns when Redis says that it is ready (Type=notify).
if (units.includes('redis-server') && verb !== 'stop') {
  const port = /^port (\d+)$/m.exec(readFileSync(join(root, 'etc/redis/redis.conf'), 'utf8'))[1];
  for (;;) {
    const answer = spawnSync('redis-cli', ['-p', port, 'PING'], { encoding: 'utf8' });
    if (`${answer.stdout}${answer.stderr}`.includes('NOAUTH')) break;
    if (!isAlive(pidOf('redis-server'))) process.exit(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
