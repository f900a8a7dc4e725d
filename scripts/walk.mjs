// `npm run walk`: makes one warm call on each store in an instrumented build, and prints the functions it enters, in order, with the
// rooms (folders of src/) they are in. `--json` prints figures and steps, `--drawing` a diagram for docs, `--store redis|embedded` selects
// one store.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';
import { measureWalk, onPath, readWalk } from './walk/read-trace.mjs';

const STORES = ['redis', 'embedded'];
const CALLS = 30;
const MODULE = `import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';
export default defineModule({
  id: 'walk', version: '1.0.0', description: 'The tool at the end of the walk.',
  tools: { echo: tool({ description: 'Gives its text back.', effect: 'read', input: z.object({ text: z.string() }), run: ({ text }) => ({ text }) }) },
});
`;

function readOptions() {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, drawing: { type: 'boolean' }, store: { type: 'string' } },
  });
  if (values.store !== undefined && !STORES.includes(values.store))
    throw new Error(`--store is ${STORES.join(' or ')}.`);
  if (values.json && values.drawing) throw new Error('Choose one of --json and --drawing.');
  return { ...values, stores: values.store === undefined ? STORES : [values.store] };
}

/** Makes a separate build, one file per source, in which every function reports that it was entered. */
async function makeInstrumentedBuild(folder) {
  const { instrument } = await import('./walk/instrument.mjs');
  const dist = join(folder, 'dist');
  const tsc = join(TOP, 'node_modules/@typescript/native/bin/tsc');
  await run(tsc, [
    '-p',
    join(TOP, 'tsconfig.build.json'),
    '--outDir',
    dist,
    '--incremental',
    'false',
    '--tsBuildInfoFile',
    'null',
    '--declaration',
    'false',
    '--sourceMap',
    'false',
    '--inlineSources',
    'false',
  ]);
  const functions = [];
  for (const entry of readdirSync(join(TOP, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.test.ts')) continue;
    const file = relative(join(TOP, 'src'), join(entry.parentPath, entry.name)).split(sep).join('/');
    if (file.endsWith('.lua')) cpSync(join(TOP, 'src', file), join(dist, file));
    if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
    const compiled = join(dist, file.replace(/\.ts$/, '.js'));
    const tracer = relative(dirname(compiled), join(folder, 'trace.mjs')).split(sep).join('/');
    writeFileSync(compiled, instrument(file, readFileSync(compiled, 'utf8'), tracer, functions));
  }
  for (const name of ['trace.mjs', 'drive.mjs']) copyFileSync(join(TOP, 'scripts/walk', name), join(folder, name));
  copyFileSync(join(TOP, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(TOP, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'modules'));
  writeFileSync(join(folder, 'modules', 'walk.mjs'), MODULE);
  return functions;
}

/** Runs a script to its end. If it fails, throws with its output. */
async function run(script, args, options = {}) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${relative(TOP, script)} ended with ${code}:\n${output}`);
}

async function walkOn(store, folder, functions, redisServer) {
  const data = mkdtempSync(join(tmpdir(), 'sallyport-walk-'));
  const trace = join(data, 'trace.txt');
  const env = { ...process.env, SALLYPORT_WALK: trace };
  const drive = join(folder, 'drive.mjs');
  try {
    if (store === 'embedded') {
      const options = { store: { store: 'embedded', folder: join(data, 'plane') }, calls: CALLS };
      await run(drive, ['caller and worker', JSON.stringify(options)], { env });
    } else await walkOnRedis({ drive, env, data, redisServer });
    const steps = readWalk(readFileSync(trace, 'utf8'), functions);
    return { ...measureWalk(steps), steps };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function walkOnRedis({ drive, env, data, redisServer }) {
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    data,
    '--appendonly',
    'yes',
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
  ];
  const redis = spawn(redisServer, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const options = JSON.stringify({
    store: { store: 'redis', redis: { url: `redis://127.0.0.1:${port}` } },
    calls: CALLS,
  });
  let worker;
  try {
    for await (const chunk of redis.stdout) if (String(chunk).includes('eady to accept')) break;
    worker = spawn(process.execPath, [drive, 'worker', options], {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await Promise.race([
      once(worker, 'message'),
      once(worker, 'exit').then(() => {
        throw new Error('The worker ended at its start.');
      }),
    ]);
    await run(drive, ['caller', options], { env });
    worker.send('drain');
    await once(worker, 'exit');
  } finally {
    worker?.kill('SIGKILL');
    redis.kill('SIGKILL');
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Prints one line per function and one heading per room. The place (process or thread) is printed where it changes. */
function asText(store, walk) {
  const lines = [
    `## ${store}: ${walk.files} files, ${walk.functions} functions, ${walk.hops} hops, ${walk.roomChanges} room changes in ${walk.rooms} rooms, ${walk.pathRoomChanges} without base and domain`,
  ];
  let before = {};
  for (const step of walk.steps) {
    if (step.place !== before.place) lines.push('', `[${step.place}]`);
    if (step.room !== before.room || step.place !== before.place) lines.push(step.room);
    if (step.file !== before.file) lines.push(`  ${step.file}`);
    lines.push(`    ${step.name}`);
    before = step;
  }
  return lines.join('\n');
}

/** A Mermaid diagram of the path: one arrow for each change of room, labelled with the first function there. */
function asDrawing(store, walk) {
  const steps = onPath(walk.steps);
  const idOf = ({ place, room }) => `${place} ${room}`.replaceAll(/[^a-z]+/gi, '_');
  const lines = ['```mermaid', 'sequenceDiagram', `  title One warm call on ${store}`];
  for (const place of new Set(steps.map((step) => step.place))) {
    lines.push(`  box ${place}`);
    const rooms = new Map(steps.filter((step) => step.place === place).map((step) => [step.room, step]));
    for (const [room, step] of rooms) lines.push(`    participant ${idOf(step)} as ${room}`);
    lines.push('  end');
  }
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1];
    if (before !== undefined && idOf(before) !== idOf(step))
      lines.push(`  ${idOf(before)}->>${idOf(step)}: ${step.name}`);
  }
  return [...lines, '```'].join('\n');
}

async function main() {
  let options;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${error.message}\nnpm run walk [-- --json | --drawing] [--store ${STORES.join('|')}]`);
    return 2;
  }
  await ensureNodeModules();
  const redisServer = options.stores.includes('redis') ? await ensureRedisServer() : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-walk-build-'));
  try {
    console.error('walk: making an instrumented build …');
    const functions = await makeInstrumentedBuild(folder);
    const walks = {};
    for (const store of options.stores) {
      console.error(`walk: calling on ${store} …`);
      walks[store] = await walkOn(store, folder, functions, redisServer);
    }
    const print = options.drawing ? asDrawing : asText;
    if (options.json) console.log(JSON.stringify(walks, undefined, 2));
    else console.log(options.stores.map((store) => print(store, walks[store])).join('\n\n'));
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = reportFailure(error);
}
