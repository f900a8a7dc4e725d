// Puts the packed package into a project.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TOP } from '../top.mjs';

/** Installs the package with npm, as a user does. */
export function installWithNpm({ project, env, tarball }) {
  const startedMs = Date.now();
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--engine-strict=false', tarball], {
    cwd: project,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  return {
    packages: Object.keys(lock.packages).length,
    seconds: (Date.now() - startedMs) / 1000,
    ...sizes(project),
  };
}

/** Installs without a registry: copies from this clone only the packages that npm would install. Code that needs another package fails. */
export function installOffline({ project, tarball }) {
  const startedMs = Date.now();
  const home = join(project, 'node_modules/sallyport');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
  const { packages } = JSON.parse(readFileSync(join(TOP, 'package-lock.json'), 'utf8'));
  const folders = Object.keys(packages).filter((folder) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(folder));
  const installed = folders.filter((folder) => !packages[folder].dev && !packages[folder].optional);
  for (const folder of installed) copyPackage(project, folder);
  return { packages: installed.length + 1, seconds: (Date.now() - startedMs) / 1000, ...sizes(project) };
}

/** Copies a package of this clone into a project. A link would not do: a linked package would find all the packages of this clone. */
export function copyPackage(project, folder) {
  const target = join(project, folder);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(TOP, folder), target, { recursive: true });
}

function sizes(project) {
  const own = filesBelow(join(project, 'node_modules/sallyport'));
  const all = filesBelow(join(project, 'node_modules'));
  return { 'own files': own.count, 'own MB': megabytes(own.bytes), 'node_modules MB': megabytes(all.bytes) };
}

function filesBelow(folder) {
  let [count, bytes] = [0, 0];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    count += 1;
    bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return { count, bytes };
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
