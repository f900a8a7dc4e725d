// Compiles src -> dist, then examples, bench and chaos against it, bundles the entry points, copies the Lua files.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { bundle } from './bundle.mjs';
import { shipTypes } from './ship-types.mjs';
import { BILL_FILES, readBuildInput, TOP } from './top.mjs';

const DIST = join(TOP, 'dist');
const STATE = join(DIST, '.build');
/** Stamp file: the hash of all build inputs, the files that were built in addition to the compiler's output, and the packages that were bundled. */
export const STAMP = join(STATE, 'library.json');
const CONFIGS = [
  'package.json',
  'tsconfig.base.json',
  'tsconfig.build.json',
  'tsconfig.programs.json',
  'scripts/bundle.mjs',
  'scripts/compile.mjs',
  'scripts/ship-types.mjs',
];
/** The files of test/support that chaos runs with. None of them imports src. */
const SUPPORT = [
  'chaos-link.ts',
  'chaos-mode.ts',
  'chaos-proxy.ts',
  'process.ts',
  'reaper.ts',
  'redis-arguments.ts',
  'redis-cli.ts',
  'redis-server.ts',
  'tls-files.ts',
  'watched-process.ts',
].map((name) => `test/support/${name}`);
/** This script is started by its path, so no import leads to it. */
const SUPPORT_SCRIPT = 'test/support/reaper-process.mjs';
const LIBRARY = 'tsconfig.build.json';
const TSC = 'node_modules/@typescript/native/bin/tsc';

/**
 * Builds what changed.
 * @returns {Promise<{ kind: 'unchanged' } | { kind: 'built', tookMs: number } | { kind: 'failed', output: string }>}
 */
export async function compileAll({ announce = () => {} } = {}) {
  const plan = planBuild();
  const made = readStamp();
  const complete = [...plan.outputs, ...made.files].every((output) => existsSync(join(DIST, output)));
  if (complete && made.sources === plan.stamp) return { kind: 'unchanged' };

  announce();
  const startedMs = Date.now();
  // The compiler's own incremental record does not notice missing outputs, so it is deleted.
  if (!complete) rmSync(STATE, { recursive: true, force: true });
  rmSync(STAMP, { force: true });
  mkdirSync(STATE, { recursive: true });
  removeOrphans(plan.outputs);

  let types = [];
  for (const { config, sources } of plan.projects) {
    if (sources.length === 0) continue;
    const { code, output } = await compile(config);
    if (code !== 0) return { kind: 'failed', output };
    // Done before examples, bench and chaos are compiled, so that they see the same types that a user sees.
    if (config === LIBRARY) types = shipTypes(DIST);
  }
  let bundled;
  try {
    bundled = await bundle();
  } catch (error) {
    return { kind: 'failed', output: error instanceof Error ? error.message : String(error) };
  }
  for (const { from, to } of plan.copies) {
    mkdirSync(dirname(join(DIST, to)), { recursive: true });
    copyFileSync(join(TOP, from), join(DIST, to));
  }
  const command = join(DIST, 'cli', 'main.js');
  if (existsSync(command)) chmodSync(command, 0o755);
  writeFileSync(
    STAMP,
    JSON.stringify({ sources: plan.stamp, files: [...types, ...bundled.files], packages: bundled.packages }),
  );
  return { kind: 'built', tookMs: Date.now() - startedMs };
}

/** Returns everything that the result depends on, as one hash, and every file that the result must have. */
function planBuild() {
  const library = filesBelow('src');
  const programs = [...filesBelow('examples'), ...filesBelow('bench'), ...filesBelow('chaos'), ...SUPPORT];
  const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.d.ts');
  const librarySources = library.filter(isSource);
  const programSources = programs.filter(isSource);
  const copies = [
    ...library.filter((file) => file.endsWith('.lua')).map((file) => ({ from: file, to: file.slice('src/'.length) })),
    // Missing in a container, which is built without the tests.
    ...(existsSync(join(TOP, SUPPORT_SCRIPT)) ? [{ from: SUPPORT_SCRIPT, to: SUPPORT_SCRIPT }] : []),
  ];

  const hash = createHash('sha256');
  const inputs = [...CONFIGS, 'package-lock.json', ...library, ...programs, SUPPORT_SCRIPT];
  for (const file of inputs.filter((name) => existsSync(join(TOP, name)))) {
    hash.update(`${file}\0`).update(readBuildInput(file)).update('\0');
  }

  const script = (file) => file.replace(/\.ts$/, '.js');
  return {
    stamp: hash.digest('hex'),
    projects: [
      { config: LIBRARY, sources: librarySources },
      { config: 'tsconfig.programs.json', sources: programSources },
    ],
    copies,
    outputs: [
      ...librarySources.map((file) => script(file.slice('src/'.length))),
      ...librarySources.map((file) => file.slice('src/'.length).replace(/\.ts$/, '.d.ts')),
      ...programSources.map(script),
      ...copies.map(({ to }) => to),
    ],
  };
}

function filesBelow(folder) {
  if (!existsSync(join(TOP, folder))) return [];
  return readdirSync(join(TOP, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(TOP, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .sort();
}

/** Deletes outputs whose source was deleted, so that they do not stay in dist. */
function removeOrphans(outputs) {
  const wanted = new Set(outputs);
  for (const file of filesBelow('dist')) {
    const path = file.slice('dist/'.length);
    // Other steps of the build make these files, and remove those they no longer make.
    if (['.build/', 'console/', 'chunks/', 'types/'].some((folder) => path.startsWith(folder))) continue;
    if (BILL_FILES.includes(path)) continue;
    if (!wanted.has(path.replace(/\.map$/, ''))) rmSync(join(DIST, path), { force: true });
  }
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return { sources: undefined, files: [], packages: [] };
  }
}

function compile(config) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(TOP, TSC), '-p', config, '--pretty', 'false'], {
      cwd: TOP,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, output: output.trimEnd() }));
  });
}
