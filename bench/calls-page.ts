// How long the list of calls takes to open, to filter and to page through, over HTTP, when so many calls have ended.
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startWorker } from 'sallyport';
import { connect } from 'sallyport/client';
import { openStore, type StoreOptions } from 'sallyport/testing';
import { ownChild, ownFolder } from './harness/left-behind.ts';
import { startRedis } from './harness/redis-server.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const MODULES = fileURLToPath(new URL('./round-trip/modules', import.meta.url));
const MAIN = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const AT_ONCE = 256;
const SESSIONS = 50;
const ROUNDS = 15;
const STORES = ['embedded', 'redis'] as const;
/** One call in a hundred does not end ok, and each would be a line. */
const SILENT = { debug: noop, info: noop, warn: noop, error: console.error };
function noop(): void {}

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    store: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
const stores = STORES.filter((store) => values.store === undefined || values.store === store);
if (!(calls >= 1000 && calls <= 1e6) || stores.length === 0) {
  console.error('npm run bench -- calls-page [--calls 100000] [--store embedded|redis] [--json]');
  process.exit(2);
}

interface Measured {
  readonly store: string;
  readonly what: string;
  readonly items: number;
  readonly medianMs: number;
  readonly mostMs: number;
}

async function measure(kind: (typeof STORES)[number]): Promise<Measured[]> {
  const folder = ownFolder();
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const options: StoreOptions =
    redis === undefined
      ? { store: 'embedded', folder: join(folder, '.sallyport') }
      : { store: 'redis', redis: { url: redis.url } };
  const sink = { sink: 'sqlite', file: 'audit.sqlite' };
  const http = { log: { level: 'error' }, gateway: { http: { rate: { perSecond: 1000, burst: 1000 } } } };
  const config = redis === undefined ? http : { ...http, store: 'redis', redis: { url: redis.url }, audit: sink };
  writeFileSync(join(folder, 'sallyport.json'), JSON.stringify(config));
  const worker = await startWorker({ ...options, modules: MODULES, health: false, concurrency: 128, log: SILENT });
  const connected: StoreOptions = options.store === 'embedded' ? { ...options, mode: 'connect' } : options;
  await openTools(connected);
  const gateway = await startGateway(folder);
  try {
    await makeCalls(connected, calls);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [MAIN, 'tokens', 'create', 'bench', '--scope', 'operator', '--json'],
      { cwd: folder },
    );
    const { token } = JSON.parse(stdout) as { token: string };
    return await readLists(kind, gateway.url, token);
  } finally {
    await gateway.stop();
    await worker.drain();
    await redis?.stop();
  }
}

async function openTools(options: StoreOptions): Promise<void> {
  const store = await openStore(options);
  const { version, policy } = await store.readPolicy();
  const loops = { default: { enabled: false } };
  await store.writePolicy({
    expectedVersion: version,
    policy: { ...policy, permissions: { 'bench.*': { allow: ['*'] } }, loops },
  });
  await store.close();
}

async function startGateway(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN, 'gateway', '--http-port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ownChild(child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error('the gateway did not start');
}

/** The very first is the only one of its agent: who looks for it has to look at all of them. */
async function makeCalls(options: StoreOptions, count: number): Promise<void> {
  const client = await connect(options);
  const open = (subject: string, agent: string) =>
    client.openSession({ subject, agent, lifetimeMs: 24 * 60 * 60 * 1000 });
  await client.call(await open('nobody-else', 'first'), 'bench.read', { id: 0, text: 'x' });
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => open(`subject-${index}`, `agent-${index % 10}`)),
  );
  let next = 1;
  async function call(): Promise<void> {
    while (next < count) {
      const id = next++;
      const args = id % 100 === 0 ? { id: 'wrong' } : { id, text: 'x'.repeat(64) };
      const answer = await client.call(sessions[id % SESSIONS]!, 'bench.read', args);
      if (answer.kind !== 'settled') throw new Error(`a call was ${answer.kind}`);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, call));
  await client.close();
}

interface Page {
  readonly items: readonly { readonly settledAt: number }[];
  readonly next?: string;
}

async function readLists(store: string, url: string, token: string): Promise<Measured[]> {
  const read = async (query: string): Promise<Page> => {
    const answer = await fetch(`${url}/v1/calls?${query}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Page;
  };
  const began = performance.now();
  const cold = await read('limit=50');
  const coldMs = performance.now() - began;
  await untilRemembered(url, token);
  // Half way down, by cursors, as somebody would who scrolls.
  let page = await read('limit=500');
  for (let shownCalls = 500; shownCalls < calls / 2 && page.next !== undefined; shownCalls += 500) {
    page = await read(`limit=500&cursor=${page.next}`);
  }
  const middle = page.items[0]!.settledAt;
  const deep = page.next;
  const queries: Record<string, string> = {
    'the first page': 'limit=50',
    'the first page, 500 calls': 'limit=500',
    'one agent of ten': 'agent=agent-3',
    'one subject of fifty': 'subject=subject-7',
    'not ok, one in a hundred': 'outcome=not-ok',
    'an agent with one call, the oldest': 'agent=first',
    'a tool that nobody called': 'tool=bench.none',
    'until half of the time': `to=${middle}`,
    ...(deep === undefined ? {} : { 'a page half way down': `limit=500&cursor=${deep}` }),
  };
  const rows: Measured[] = [
    { store, what: 'the first page, gateway just started', items: cold.items.length, medianMs: coldMs, mostMs: coldMs },
  ];
  for (const [what, query] of Object.entries(queries)) {
    const times: number[] = [];
    let items = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = performance.now();
      ({ length: items } = (await read(query)).items);
      times.push(performance.now() - start);
    }
    rows.push({ store, what, items, medianMs: median(times), mostMs: Math.max(...times) });
  }
  return rows;
}

/** Statistics wait until everything was read once. */
async function untilRemembered(url: string, token: string): Promise<void> {
  const began = performance.now();
  await fetch(`${url}/v1/statistics`, { headers: { authorization: `Bearer ${token}` } });
  if (!values.json) console.log(`reading what is remembered took ${shown(performance.now() - began)} ms`);
}

const rows: Measured[] = [];
for (const store of stores) rows.push(...(await measure(store)));
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.log(
    formatTable(
      ['list of calls', 'store', 'calls shown', 'median ms', 'most ms'],
      rows.map(({ what, store, items, medianMs, mostMs }) => [
        what,
        store,
        shown(items),
        shown(medianMs, 1),
        shown(mostMs, 1),
      ]),
    ),
  );
}
