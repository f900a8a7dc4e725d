// `npm run pack`: builds what changed, then packs the package as `npm pack` does, with the same flags. `npm pack` alone cannot build: the hook
// for that, `prepack`, is an install script, and .npmrc turns those off. In a clone that is not built it would pack no program.
// It prints one line, where `npm pack` prints one for each of several hundred files; `--json` and `--silent` print what npm does.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const given = process.argv.slice(2);
const pack = ['pack', '--ignore-scripts', ...given];

try {
  await ensureNodeModules();
  await ensureBuild();
  const asNpm = given.some((word) => ['--json', '--silent', '-s'].includes(word));
  process.exitCode = asNpm ? await runChild('npm', pack, { cwd: TOP }) : packInOneLine();
} catch (error) {
  process.exitCode = reportFailure(error);
}

function packInOneLine() {
  const { status, stdout } = spawnSync('npm', [...pack, '--json'], {
    cwd: TOP,
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) return status ?? 1;
  const [{ filename, size, entryCount }] = JSON.parse(stdout);
  const { values } = parseArgs({
    args: given,
    options: { 'pack-destination': { type: 'string', default: '.' }, 'dry-run': { type: 'boolean' } },
    strict: false,
  });
  const would = values['dry-run'] === true ? ' (not written: --dry-run)' : '';
  console.log(
    `${join(values['pack-destination'], filename)}: ${(size / 1e6).toFixed(1)} MB, ${entryCount} files${would}`,
  );
  return 0;
}
