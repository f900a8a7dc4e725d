// `npm run pack`: builds what changed, then packs the package as `npm pack` does, with the same flags. `npm pack` alone cannot build: the hook
// for that, `prepack`, is an install script, and .npmrc turns those off. In a clone that is not built it would pack no program.
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

try {
  await ensureNodeModules();
  await ensureBuild();
  process.exitCode = await runChild('npm', ['pack', '--ignore-scripts', ...process.argv.slice(2)], { cwd: TOP });
} catch (error) {
  process.exitCode = reportFailure(error);
}
