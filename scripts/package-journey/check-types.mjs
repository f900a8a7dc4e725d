// Checks the types of every export, of README's module and of README's call, as strictly as the compiler can. The package's own
// declarations are checked too (no skipLibCheck): a declaration that needs a package which is not installed would otherwise silently
// be `any`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../top.mjs';
import { readmeModule } from './use-command.mjs';

const COMPILER = join(TOP, 'node_modules/@typescript/native/bin/tsc');
const RESOLUTIONS = [
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'bundler', module: 'esnext' },
];

/** @returns {string[]} the kinds of module resolution with which the types hold */
export function checkTypes({ project }) {
  const folder = join(project, 'types');
  mkdirSync(folder);
  writeFileSync(join(folder, 'dice.ts'), readmeModule());
  writeFileSync(join(folder, 'exports.ts'), importsOf(join(project, 'node_modules/sallyport/package.json')));
  // The type packages that a TypeScript project for Node.js has.
  for (const name of ['@types/node', 'undici-types'])
    cpSync(join(TOP, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  return RESOLUTIONS.map(({ module, moduleResolution }) => {
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2023',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    };
    const config = join(folder, `tsconfig.${moduleResolution}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    try {
      execFileSync(process.execPath, [COMPILER, '-p', config], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      throw new Error(`The types do not hold with moduleResolution ${moduleResolution}:\n${error.stdout}`);
    }
    return moduleResolution;
  });
}

/** A source file that imports every export with types. One line of it fails to compile when `connect` or its result is `any`. */
function importsOf(packageFile) {
  const { name, exports } = JSON.parse(readFileSync(packageFile, 'utf8'));
  const paths = Object.keys(exports).filter((path) => exports[path].types !== undefined);
  const imports = paths.map((path, index) => `import * as part${index} from '${name}${path.slice(1)}';`);
  return `${imports.join('\n')}
import { connect } from '${name}/client';

type IsAny<T> = 0 extends 1 & T ? true : false;
export const parts = [${paths.map((_, index) => `part${index}`).join(', ')}];
export const isTyped: [IsAny<typeof connect>, IsAny<Awaited<ReturnType<typeof connect>>>] = [false, false];
`;
}
