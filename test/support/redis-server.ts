import { eventually, freePort, temporaryFolder } from './process.ts';
import { redisServerArguments, redisUrl, type RedisServerOptions, type RedisPlace } from './redis-arguments.ts';
import { INSTALL_REDIS, runRedisCli, type CliTarget } from './redis-cli.ts';
import { startProgram, type WatchedProcess } from './watched-process.ts';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Changes on `restart`. */
  readonly pid: number;
  readonly directory: string;
  /** What the server has logged since its last start. */
  readonly log: string;
  /** Sends a signal; by default SIGKILL, as a crash. Resolves when the process is gone, or at once for SIGSTOP and SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again with the same data folder and port. If it still runs, it is first shut down in order. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder, unless the caller provided the folder. */
  stop(): Promise<void>;
  /** Runs one command through redis-cli and returns its output. Rejects on an error reply. */
  cli(...args: string[]): Promise<string>;
}

const START_ATTEMPTS = 5;

/** Starts a real redis-server on loopback with its own data folder. It is ready on return, and is killed with the test process. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const ownFolder = options.directory === undefined ? temporaryFolder('sallyport-redis') : undefined;
  const directory = options.directory ?? ownFolder?.path ?? '';
  try {
    const started = await startOnSomePort(options, directory);
    return serverHandle(options, started, () => ownFolder?.remove());
  } catch (error) {
    ownFolder?.remove();
    throw error;
  }
}

interface Started {
  readonly place: RedisPlace;
  readonly child: WatchedProcess;
}

async function startOnSomePort(options: RedisServerOptions, directory: string): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    const place = { port: options.port ?? (await freePort()), clusterPort: await freePort(), directory };
    try {
      return { place, child: await startAt(options, place) };
    } catch (error) {
      // Another process may have taken the port in the meantime: try another one. A port that the caller chose is not changed.
      const portTaken = error instanceof Error && error.message.includes('Address already in use');
      if (!portTaken || options.port !== undefined || attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function startAt(options: RedisServerOptions, place: RedisPlace): Promise<WatchedProcess> {
  const child = await startProgram('redis-server', redisServerArguments(options, place), {
    installHint: INSTALL_REDIS,
  });
  try {
    const state = await eventually(
      async () =>
        child.exit === undefined ? (await isReady(child.pid, cliTarget(options, place))) && 'ready' : 'ended',
      { what: `redis-server on port ${place.port} to answer PING` },
    );
    if (state === 'ended') throw new Error(`redis-server ended at its start: ${child.stdout}${child.stderr}`);
    if (options.cluster) await ownAllSlots(cliTarget(options, place));
  } catch (error) {
    child.kill('SIGKILL');
    await child.exited;
    throw error;
  }
  return child;
}

/** The pid is compared because another process may have taken the port: then its server would answer. */
async function isReady(pid: number, target: CliTarget): Promise<boolean> {
  if ((await runRedisCli(target, ['PING'])) !== 'PONG') return false;
  return (await runRedisCli(target, ['INFO', 'server'])).includes(`process_id:${pid}\r`);
}

async function ownAllSlots(target: CliTarget): Promise<void> {
  const info = await runRedisCli(target, ['CLUSTER', 'INFO']);
  // After a restart the node knows its slots from nodes.conf, and adding them again is an error.
  if (!info.includes('cluster_slots_assigned:16384')) {
    await runRedisCli(target, ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  }
  await eventually(async () => (await runRedisCli(target, ['CLUSTER', 'INFO'])).includes('cluster_state:ok'), {
    what: 'cluster_state:ok',
  });
}

function cliTarget(options: RedisServerOptions, { port }: RedisPlace): CliTarget {
  return {
    port,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    ...(options.password === undefined ? {} : { password: options.password }),
    ...(options.username === undefined ? {} : { username: options.username }),
  };
}

function serverHandle(options: RedisServerOptions, started: Started, removeFolder: () => void): RedisServer {
  const { place } = started;
  let { child } = started;
  return {
    port: place.port,
    url: redisUrl(options, place.port),
    directory: place.directory,
    get pid() {
      return child.pid;
    },
    get log() {
      return child.stdout;
    },
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await child.exited;
    },
    restart: async () => {
      await child.stop();
      child = await startAt(options, place);
    },
    stop: async () => {
      // The server is killed, because a replica that is writing its first AOF refuses SIGTERM. If the caller keeps the data, it is
      // shut down in order.
      await child.stop(options.directory === undefined ? 0 : undefined);
      removeFolder();
    },
    cli: (...args) => runRedisCli(cliTarget(options, place), args),
  };
}
