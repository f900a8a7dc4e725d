// A plane with a given number of ended calls, and a gateway in its own process.
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startWorker } from 'sallyport';
import { connect } from 'sallyport/client';
import { openStore, type StoreOptions } from 'sallyport/testing';
import { ownChild, ownFolder } from '../harness/left-behind.ts';
import { startRedis } from '../harness/redis-server.ts';

const MODULES = fileURLToPath(new URL('../round-trip/modules', import.meta.url));
const MAIN = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const AT_ONCE = 256;
const SESSIONS = 50;
/** Drops log lines below `error`: one call in a hundred has wrong arguments, and each of these would log a line. */
const SILENT = { debug: noop, info: noop, warn: noop, error: console.error };
function noop(): void {}

export const STORES = ['embedded', 'redis'] as const;

export interface SettledPlane {
  readonly url: string;
  /** Runs a command and returns the JSON that it prints. */
  cli(...args: string[]): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export async function startSettledPlane(kind: (typeof STORES)[number], calls: number): Promise<SettledPlane> {
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
  await makeCalls(connected, calls);
  return {
    url: gateway.url,
    async cli(...args) {
      const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args, '--json'], { cwd: folder });
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    async stop() {
      await gateway.stop();
      await worker.drain();
      await redis?.stop();
    },
  };
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

/** The first call is the only one of its agent, so a search for it has to look at all calls. */
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
