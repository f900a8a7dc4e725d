// Starts a separate Docker engine with its data in a temporary folder. It runs in a network and mount namespace that end with this
// process, so its bridges, firewall rules and published ports never reach the machine.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS = 60_000;

/** Prepares the namespaces of this process for an engine. Only for a process that `unshare --net --mount` has started. */
export function prepareNamespaces() {
  spawnSync('ip', ['link', 'set', 'lo', 'up']);
  // Two cgroup versions mounted at once confuse the container runtimes. This unmounts a copy; the machine keeps its mount.
  spawnSync('umount', ['/sys/fs/cgroup/unified'], { stdio: 'ignore' });
}

/** The hard limit for open files. The engine must not set a higher one, because it has no right to raise limits. */
function hardLimit() {
  return /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))[1];
}

export async function startEngine(folder) {
  const host = `unix://${join(folder, 'docker.sock')}`;
  const limit = hardLimit();
  const limits = limit === 'unlimited' ? [] : [`--default-ulimit=nofile=${limit}:${limit}`];
  const args = [
    `--data-root=${join(folder, 'data')}`,
    `--exec-root=${join(folder, 'exec')}`,
    `--pidfile=${join(folder, 'pid')}`,
    `--host=${host}`,
    '--init-path=/usr/bin/tini-static',
    ...limits,
  ];
  const engine = spawn('dockerd', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  engine.stderr.setEncoding('utf8').on('data', (chunk) => (log = (log + chunk).slice(-20_000)));
  const exited = new Promise((resolve) => engine.once('exit', resolve));
  const env = { ...process.env, DOCKER_HOST: host };
  const giveUpAt = Date.now() + START_MS;
  while (spawnSync('docker', ['version'], { env, stdio: 'ignore' }).status !== 0) {
    if (engine.exitCode !== null || Date.now() > giveUpAt) {
      engine.kill();
      throw new Error(`dockerd did not start:\n${log}`);
    }
    await sleep(200);
  }
  return {
    env,
    async stop() {
      engine.kill('SIGTERM');
      await exited;
    },
  };
}
