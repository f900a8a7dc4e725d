import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { ownChild, ownFolder } from './left-behind.ts';

export interface BenchRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 10_000;

/** Starts a Redis server with the settings that a deployment needs, its own folder and a free port. It ends with this process. */
export async function startRedis(): Promise<BenchRedis> {
  const port = await freePort();
  const child = spawn(process.env['SALLYPORT_REDIS_SERVER'] ?? 'redis-server', serverArguments(port, ownFolder()), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ownChild(child);
  await untilReady(child);
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid!,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function serverArguments(port: number, folder: string): string[] {
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    // A rewrite of the append-only file would fork in the middle of a measurement.
    'auto-aof-rewrite-percentage': 0,
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

async function untilReady(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`redis-server is not ready: ${log}`)), READY_WITHIN_MS);
    child.stdout!.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (!log.includes('Ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`redis-server ended at its start: ${log}`)));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
