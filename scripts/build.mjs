// `npm run build`: installs packages when needed, then compiles what changed.
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';

try {
  await ensureNodeModules();
  await ensureBuild();
} catch (error) {
  process.exitCode = reportFailure(error);
}
