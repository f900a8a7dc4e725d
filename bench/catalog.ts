// Measures what a catalog of 10,000 tools costs: a worker loads and publishes it, a worker restarts with nothing changed, and a client
// reads it and calls tools.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ReadFacts } from './catalog/read-catalog.ts';
import type { ServeFacts } from './catalog/serve-catalog.ts';
import { firstTool, lastTool, writeModules, type CatalogSize } from './catalog/write-modules.ts';
import { ownChild, ownFolder } from './harness/left-behind.ts';
import { startRedis } from './harness/redis-server.ts';
import { toCount, toNames, UsageProblem } from './harness/options.ts';
import { row, type BenchReport } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { shown } from './harness/statistics.ts';

const USAGE = `npm run bench -- catalog [options]
  --modules 100         (default 100)
  --tools 100           of each module (default 100)
  --store redis         redis, embedded or both (default redis,embedded)
  --json                the report as JSON`;

const STORES = ['redis', 'embedded'] as const;

const program = (name: string): string => fileURLToPath(new URL(`./catalog/${name}.js`, import.meta.url));

async function start<Facts>(name: string, orders: object): Promise<{ facts: Facts; child: ChildProcess }> {
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

async function measure(store: string, place: object, modules: string, size: CatalogSize): Promise<Measured> {
  const tools = [firstTool(), lastTool(size)];
  const first = await start<ServeFacts>('serve-catalog', { ...place, modules, health: false });
  await stop(first.child);
  const again = await start<ServeFacts>('serve-catalog', { ...place, modules, health: false });
  const reading = await start<ReadFacts>('read-catalog', { store: { ...place, mode: 'auto' }, tools });
  await stop(again.child);
  return { store, first: first.facts, again: again.facts, client: reading.facts };
}

async function measureOn(store: (typeof STORES)[number], modules: string, size: CatalogSize): Promise<Measured> {
  if (store === 'embedded') return measure(store, { store, folder: ownFolder() }, modules, size);
  const redis = await startRedis();
  try {
    return await measure(store, { store, redis: { url: redis.url } }, modules, size);
  } finally {
    await redis.stop();
  }
}

/** The folder is in the package's own tree, so that the modules can import the package by its name. */
function makeModules(size: CatalogSize): string {
  const parent = fileURLToPath(new URL('../.bench-modules/', import.meta.url));
  mkdirSync(parent, { recursive: true });
  const modules = mkdtempSync(join(parent, 'catalog-'));
  process.once('exit', () => rmSync(modules, { recursive: true, force: true }));
  writeModules(modules, size);
  return modules;
}

function toSize(option: string, text: string): number {
  const count = toCount(option, text);
  if (count > 1000) throw new UsageProblem(`${option} can be 1000 at most.`);
  return count;
}

const COLUMNS = [
  { title: 'start ms', digits: 0 },
  { title: 'start again ms', digits: 0 },
  { title: 'worker MiB', digits: 0 },
  { title: 'worker peak MiB', digits: 0 },
  { title: 'read ms', digits: 0 },
  { title: 'first call ms', digits: 1 },
  { title: 'last call ms', digits: 1 },
  { title: 'client MiB', digits: 0 },
  { title: 'of it catalog MiB', digits: 0 },
];

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      modules: { type: 'string', default: '100' },
      tools: { type: 'string', default: '100' },
      store: { type: 'string', default: STORES.join(',') },
    },
  });
  const size = { modules: toSize('--modules', values.modules), toolsPerModule: toSize('--tools', values.tools) };
  const stores = toNames('--store', values.store, STORES);
  const modules = makeModules(size);
  const measured: Measured[] = [];
  for (const store of stores) {
    progress(`a worker and a client, ${store}`);
    measured.push(await measureOn(store, modules, size));
  }
  return {
    bench: 'catalog',
    command: ['npm run bench -- catalog', ...args].join(' '),
    notes: ['Start: modules described, imported and published. The first and the last call are those of the catalog.'],
    tables: [
      {
        id: 'catalog',
        title: `A catalog of ${shown(size.modules * size.toolsPerModule)} tools`,
        of: 'store',
        columns: COLUMNS,
        rows: measured.map(({ store, first, again, client }) =>
          row(store, [
            first.startMs,
            again.startMs,
            first.residentMb,
            first.peakMb,
            client.readMs,
            client.calls[0]!.ms,
            client.calls[1]!.ms,
            client.residentMb,
            client.residentMb - client.idleMb,
          ]),
        ),
      },
    ],
    // These are times of single starts, not ratios within one run, so a baseline cannot compare them across machines.
    ratios: [],
  };
}

await runBench({ usage: USAGE, run });
