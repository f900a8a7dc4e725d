// Bundles the code that a process loads at its start: a worker reads about twenty files instead of eight hundred, in half the time.
// Entries keep their names; code that they share goes to dist/chunks. Uses only node: modules until the bundler is really needed.
import { readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isStarted, TOP } from './top.mjs';

const SRC = join(TOP, 'src');
const DIST = join(TOP, 'dist');
const CHUNKS = 'chunks';
const HTTP = 'node:http';

/**
 * Entry points: the command, and the files that are started by path as a thread, a process or a loader hook. `entries()` adds those of
 * `exports/`.
 */
const STARTED = [
  'cli/main',
  'base/own-package-hooks',
  'modules/catalog/describe-child',
  'compose/supervisor-thread',
  'worker/runners/process/loaded-code-hooks',
  'worker/runners/process/process-child',
  'worker/runners/process/watchdog-thread',
  'worker/services/storage/embedded/services-thread',
  'stores/embedded/store-thread',
];

/**
 * Packages that are not bundled: native code, packages with optional native parts, and tracing and metrics, which other tools patch by
 * package name. They are loaded late or cost little, and a test checks by their names that they are not loaded when they are off. They
 * are the `dependencies` of package.json, together with zod, which is bundled and also installed for the modules of users. All other
 * packages are bundled and are development dependencies; the bill of materials lists them.
 */
const KEPT_APART = ['@opentelemetry', 'msgpackr', 'pg', 'prom-client'];

/**
 * Writes the entries and their chunks over what the compiler wrote. Throws with the bundler's message.
 * @returns {Promise<{ files: string[], packages: string[] }>} the files it wrote, below dist; the folders of the packages in them
 */
export async function bundle() {
  const { rolldown } = await import(pathToFileURL(join(TOP, 'node_modules', 'rolldown', 'dist', 'index.mjs')).href);
  const bundler = await rolldown({
    cwd: TOP,
    input: Object.fromEntries(entries().map((name) => [name, join(SRC, `${name}.ts`)])),
    platform: 'node',
    external: (id) =>
      (id.startsWith('node:') && id !== HTTP) || KEPT_APART.some((name) => id === name || id.startsWith(`${name}/`)),
    preserveEntrySignatures: 'strict',
    transform: { target: 'node22' },
    plugins: [ownAddresses(), httpWithoutFetch()],
    onLog: (level, log, report) => {
      // Not reported: optional parts that a package looks up at run time. The package works without them.
      if (level !== 'warn' || log.code === 'UNRESOLVED_IMPORT' || log.code === 'EVAL') return;
      report(level, log);
    },
  });
  try {
    const { output } = await bundler.write({
      dir: DIST,
      format: 'es',
      entryFileNames: '[name].js',
      chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
      // `hidden`: no comment in the output names the source map. Maps are for the build's own checks and are not published.
      sourcemap: 'hidden',
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    const files = output.map(({ fileName }) => fileName);
    for (const file of readdirSync(join(DIST, CHUNKS))) {
      if (!files.includes(`${CHUNKS}/${file}`)) rmSync(join(DIST, CHUNKS, file));
    }
    return { files, packages: packageFolders(output.flatMap(({ moduleIds }) => moduleIds ?? [])) };
  } finally {
    await bundler.close();
  }
}

/**
 * An import of `node:http` reads everything that it exports, also the three names for which Node.js loads its whole implementation of
 * fetch: 60 ms of CPU in each process and thread. This plugin substitutes the same module without those three names, which nothing
 * here uses.
 */
function httpWithoutFetch() {
  const names = Object.keys(http).filter((name) => Object.getOwnPropertyDescriptor(http, name)?.get === undefined);
  const code = `const http = process.getBuiltinModule('${HTTP}');\nexport default http;\nexport const { ${names.join(', ')} } = http;\n`;
  return {
    name: 'http-without-fetch',
    resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => `\0${HTTP}` },
    load: { filter: { id: /^\0node:http$/ }, handler: () => ({ code, moduleSideEffects: false }) },
  };
}

function entries() {
  const exported = readdirSync(join(SRC, 'exports'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => `exports/${file.slice(0, -'.ts'.length)}`);
  return [...STARTED, ...exported];
}

/** Keeps the address of each module: `import.meta.url` stays the one it had before the module became part of a chunk. */
function ownAddresses() {
  const asked = /\bimport\.meta\.url\b/g;
  const marked = /\bSALLYPORT_ADDRESS_OF\("([^"]+)"\)/g;
  return {
    name: 'own-addresses',
    transform: {
      filter: { id: /[\\/]src[\\/].*\.ts$/, code: /import\.meta\.url/ },
      handler(code, id) {
        const place = relative(SRC, id).split(sep).join('/').replace(/\.ts$/, '.js');
        return { code: code.replaceAll(asked, `SALLYPORT_ADDRESS_OF("${place}")`), map: null };
      },
    },
    renderChunk(code, chunk) {
      if (!code.includes('SALLYPORT_ADDRESS_OF')) return null;
      const placed = code.replaceAll(marked, (_, place) => {
        const path = relative(dirname(chunk.fileName), place).split(sep).join('/');
        return `new URL("${path.startsWith('.') ? path : `./${path}`}", import.meta.url).href`;
      });
      return { code: placed, map: null };
    },
  };
}

/** The package folders that contain these modules, for example `node_modules/zod`; each once, sorted. */
export function packageFolders(modules) {
  const inPackage = /node_modules[\\/](?:.*[\\/]node_modules[\\/])?(?:@[^\\/]+[\\/])?[^\\/]+/;
  const folders = modules.map((module) => inPackage.exec(module)?.[0]);
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map((folder) => folder.split(sep).join('/'))
    .sort((one, other) => (one < other ? -1 : 1));
}

// When this script is started directly, it bundles what was compiled before.
if (isStarted(import.meta.url)) await bundle();
