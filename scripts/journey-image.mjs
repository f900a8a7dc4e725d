// `npm run journey:image`: builds the container image with Buildah, then follows docs/deploy.md in a separate Docker engine: image,
// compose.yaml, health checks while Redis is away and a worker is frozen, and a drain during a call. Installs what it needs, as root on
// Debian.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureCompose, ensureNodeRoot, ensureRedisRoot, NODE_IMAGE } from './image/base-images.mjs';
import { buildImage } from './image/build-image.mjs';
import { ensureBuild, ensureNodeModules, ensureSystemProgram, reportFailure, say, SetupFailure } from './setup.mjs';

const PROGRAMS = {
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  dockerd: 'docker.io',
  'tini-static': 'tini',
  iptables: 'iptables',
  ip: 'iproute2',
  curl: 'curl',
};
const TAG = 'docker.io/library/sallyport:latest';

async function ensurePrograms() {
  if (process.getuid() !== 0) throw new SetupFailure('journey:image makes roots and containers: run it as root.');
  for (const [program, debianPackage] of Object.entries(PROGRAMS))
    await ensureSystemProgram({
      program,
      debianPackage,
      why: 'the image is built and run',
      services: program === 'dockerd' ? ['docker'] : [],
    });
}

/** Lets npm in the build trust the certificate authorities of this machine: its way to the registry may lead through a proxy. */
function hostAuthorities() {
  const bundle = '/etc/ssl/certs/ca-certificates.crt';
  const inside = '/run/host-authorities.crt';
  if (!existsSync(bundle)) return [];
  return ['--volume', `${bundle}:${inside}:ro`, '--build-arg', `NODE_EXTRA_CA_CERTS=${inside}`];
}

/**
 * Builds the image with Buildah in a separate store. `chroot` isolation needs no container runtime and no further rights. Returns the
 * image as an archive that Docker can load.
 */
async function build(folder) {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = (...args) => execFileSync('buildah', [...store, ...args], { encoding: 'utf8' }).trim();
  say('importing the base image …');
  const scratch = buildah('from', 'scratch');
  buildah('add', '--quiet', scratch, await ensureNodeRoot(), '/');
  buildah('commit', '--quiet', '--rm', '--format', 'docker', scratch, NODE_IMAGE);
  await buildImage({
    engine: 'buildah',
    tag: TAG,
    globals: store,
    options: ['--isolation', 'chroot', '--pull=never', ...hostAuthorities()],
  });
  const archive = join(folder, 'image.tar');
  buildah('push', '--quiet', TAG, `docker-archive:${archive}:${TAG}`);
  return archive;
}

/**
 * Runs a command in new namespaces. They end with their first process, and everything in them ends too. `unshare` ignores all signals
 * except SIGKILL, and forwards that one.
 */
function runInNamespaces(command) {
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  return new Promise((resolve, reject) => {
    const child = spawn('unshare', [...namespaces, ...command], { stdio: 'inherit', detached: true });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => child.kill('SIGKILL'));
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

const folder = mkdtempSync(join(tmpdir(), 'sallyport-journey-'));
try {
  await ensurePrograms();
  await ensureNodeModules();
  await ensureBuild();
  const parts = { folder, compose: await ensureCompose(), redis: await ensureRedisRoot(), image: await build(folder) };
  const inside = fileURLToPath(new URL('image/follow-page.mjs', import.meta.url));
  process.exitCode = await runInNamespaces([process.execPath, inside, JSON.stringify(parts)]);
} catch (error) {
  process.exitCode = reportFailure(error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
