// What a catalog of 10,000 tools costs: a worker loads and publishes it, starts again with nothing changed, a client reads it and calls.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ReadFacts } from './catalog/read-catalog.ts';
import type { ServeFacts } from './catalog/serve-catalog.ts';
import { firstTool, lastTool, writeModules } from './catalog/write-modules.ts';
import { ownChild, ownFolder } from './harness/left-behind.ts';
import { startRedis } from './harness/redis-server.ts';
import { shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const { values } = parseArgs({
  options: {
    modules: { type: 'string', default: '100' },
    tools: { type: 'string', default: '100' },
    json: { type: 'boolean', default: false },
  },
});
const size = { modules: Number(values.modules), toolsPerModule: Number(values.tools) };
if (!(size.modules >= 1 && size.modules <= 1000) || !(size.toolsPerModule >= 1 && size.toolsPerModule <= 1000)) {
  console.error('npm run bench -- catalog [--modules 100] [--tools 100] [--json]');
  process.exit(2);
}

const program = (name: string): string => fileURLToPath(new URL(`./catalog/${name}.js`, import.meta.url));

async function run<Facts>(name: string, orders: object): Promise<{ facts: Facts; child: ChildProcess }> {
  const child = spawn(process.execPath, [program(name), JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ownChild(child);
  child.stdout.setEncoding('utf8');
  let text = '';
  for await (const chunk of child.stdout as AsyncIterable<string>) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  if (!text.includes('\n')) throw new Error(`${name} ended without a word`);
  return { facts: JSON.parse(text) as Facts, child };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

interface Measured {
  readonly store: string;
  readonly first: ServeFacts;
  readonly again: ServeFacts;
  readonly client: ReadFacts;
}

async function measure(store: string, place: object, modules: string): Promise<Measured> {
  const tools = [firstTool(), lastTool(size)];
  const first = await run<ServeFacts>('serve-catalog', { ...place, modules, health: false });
  await stop(first.child);
  const again = await run<ServeFacts>('serve-catalog', { ...place, modules, health: false });
  const reading = await run<ReadFacts>('read-catalog', { store: { ...place, mode: 'auto' }, tools });
  await stop(again.child);
  return { store, first: first.facts, again: again.facts, client: reading.facts };
}

// In the package's own tree, so that the modules can import it by its name.
const parent = fileURLToPath(new URL('../.bench-modules/', import.meta.url));
mkdirSync(parent, { recursive: true });
const modules = mkdtempSync(join(parent, 'catalog-'));
process.once('exit', () => rmSync(modules, { recursive: true, force: true }));
writeModules(modules, size);

const redis = await startRedis();
const measured = [
  await measure('redis', { store: 'redis', redis: { url: redis.url } }, modules),
  await measure('embedded', { store: 'embedded', folder: ownFolder() }, modules),
];
await redis.stop();

const rows = measured.map(({ store, first, again, client }) => [
  store,
  shown(first.startMs),
  shown(again.startMs),
  shown(first.residentMb),
  shown(first.peakMb),
  shown(client.readMs),
  shown(client.calls[0]!.ms, 1),
  shown(client.calls[1]!.ms, 1),
  shown(client.residentMb),
  shown(client.residentMb - client.idleMb),
]);
const header = [
  `${shown(size.modules * size.toolsPerModule)} tools`,
  'start ms',
  'start again ms',
  'worker MiB',
  'worker peak MiB',
  'read ms',
  'first call ms',
  'last call ms',
  'client MiB',
  'of it catalog MiB',
];
console.log(values.json ? JSON.stringify({ size, measured }, null, 2) : formatTable(header, rows));
