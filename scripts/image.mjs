// `npm run image [-- --tag sallyport] [--engine docker|podman|buildah] [--base IMAGE]`: builds the package and from it the container image.
import { parseArgs } from 'node:util';
import { buildImage, ENGINES } from './image/build-image.mjs';
import { ensureBuild, ensureNodeModules, findProgram, reportFailure, SetupFailure } from './setup.mjs';

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { tag: { type: 'string', default: 'sallyport' }, engine: { type: 'string' }, base: { type: 'string' } },
    });
    if (values.engine === undefined || ENGINES.includes(values.engine)) return values;
  } catch {
    // An unknown option: the usage below lists the known ones.
  }
  console.error(`npm run image [-- --tag sallyport] [--engine ${ENGINES.join('|')}] [--base IMAGE]`);
  return process.exit(2);
}

const { tag, engine = ENGINES.find((name) => findProgram(name)), base } = readOptions();
try {
  if (engine === undefined)
    throw new SetupFailure(`No container engine was found: install one of ${ENGINES.join(', ')}.`);
  await ensureNodeModules();
  await ensureBuild();
  await buildImage({ engine, tag, options: base === undefined ? [] : ['--build-arg', `BASE=${base}`] });
} catch (error) {
  process.exitCode = reportFailure(error);
}
