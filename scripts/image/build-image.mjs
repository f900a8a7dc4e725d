import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runChild } from '../run-child.mjs';
import { SetupFailure } from '../setup.mjs';
import { TOP } from '../top.mjs';

const CONTAINERFILE = 'deploy/container/Containerfile';
/** The files that the build may see, in addition to the packed package. */
const CONTEXT = ['package.json', 'package-lock.json', '.npmrc', CONTAINERFILE, 'deploy/container/check-health.mjs'];

/** podman and buildah need `--format docker`, because the OCI format has no health checks. Docker writes its own format by default. */
const BUILD_COMMANDS = {
  docker: ['build'],
  podman: ['build', '--format', 'docker'],
  buildah: ['build', '--format', 'docker'],
};

export const ENGINES = Object.keys(BUILD_COMMANDS);

/**
 * Packs the package and builds the Containerfile from it. Needs a build in dist/. The context is a temporary folder: an old package in the
 * checkout cannot get into the image.
 *
 * @param {object} wanted
 * @param {string} wanted.engine   docker, podman or buildah
 * @param {string} wanted.tag      name of the image
 * @param {string[]} [wanted.globals]  options of the engine before its command
 * @param {string[]} [wanted.options]  more options of the build command
 */
export async function buildImage({ engine, tag, globals = [], options = [] }) {
  const context = mkdtempSync(join(tmpdir(), 'sallyport-image-'));
  try {
    for (const file of CONTEXT) {
      mkdirSync(dirname(join(context, file)), { recursive: true });
      cpSync(join(TOP, file), join(context, file));
    }
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', context];
    execFileSync('npm', pack, { cwd: TOP, stdio: ['ignore', 'ignore', 'inherit'] });
    const { version } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
    const facts = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision()}`];
    const file = ['-f', join(context, CONTAINERFILE), '-t', tag];
    const args = [...globals, ...BUILD_COMMANDS[engine], ...file, ...facts, ...options, context];
    const code = await runChild(engine, args, { cwd: context });
    if (code !== 0) throw new SetupFailure(`${engine} could not build the image.`, 1);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** The commit, for the image label. An archive of the sources has no commit: `unknown`. */
function revision() {
  try {
    const options = { cwd: TOP, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim();
  } catch {
    return 'unknown';
  }
}
