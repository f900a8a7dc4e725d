import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  connect,
  type Client,
  type CallAnswer,
  type ConnectOptions,
  type SessionHandle,
} from '../../../src/exports/client.ts';
import type { Policy } from '../../../src/domain/policy/policy.ts';
import type { AnyStore } from '../../../src/domain/ports/store.ts';
import { createClientOf } from '../../../src/compose/connect.ts';
import { openStore, type StoreOptions } from '../../../src/operate/open-store.ts';
import type { WorkerOptions } from '../../../src/compose/start-worker.ts';
import { eventually, spawnNode, temporaryFolder, type TemporaryFolder } from '../../support/process.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { PATIENCE_MS, type WatchedProcess } from '../../support/watched-process.ts';

export const BACKENDS = ['redis', 'embedded'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** In milliseconds: short, so that recovery takes a few seconds, and long enough for a busy machine. */
export const LEASE_MS = 2000;
export const BASIC_MODULES = fileURLToPath(new URL('../../fixtures/plane', import.meta.url));
const WORKER_SCRIPT = fileURLToPath(new URL('worker-process.mjs', import.meta.url));

/** Loop detection is off, because many tests repeat the same call. */
export const OPEN_POLICY: Policy = {
  roles: {},
  permissions: { '*': { allow: ['*'] }, 'basic.privileged': { allow: ['operator'] } },
  paused: {},
  loops: { default: { enabled: false } },
};

export interface PlaneWorker {
  readonly workerId: string;
  readonly healthUrl: string;
  readonly process: WatchedProcess;
}

/** A whole plane of real processes: a store, any number of workers, a client in this process. */
export interface StagedPlane {
  readonly storeOptions: StoreOptions;
  /** For reading the store from outside. */
  readonly store: AnyStore;
  readonly client: Client;
  readonly redis: RedisServer | undefined;
  readonly folder: string;
  openSession(subject?: string): Promise<SessionHandle>;
  /** Connects another client; it is closed with the plane. */
  connect(options?: Partial<ConnectOptions>): Promise<Client>;
  /** Connects a client that reads a new catalog only after the answer `stale`, so that it calls tools as they were. */
  connectOutdated(): Promise<Client>;
  /** See worker-process.mjs for `crash` and `stall`. */
  startWorker(options?: Partial<WorkerOptions>, crash?: string, stall?: string): Promise<PlaneWorker>;
  setPolicy(policy: Policy): Promise<void>;
  /** The file to which the tools of `basic` write a line per effect. */
  readonly effectFile: string;
  effects(): string[];
  stop(): Promise<void>;
}

/** Use `always` where Redis itself is killed: with `everysec` it may lose what it has answered; see docs/failure.md. */
export async function stagePlane(
  backend: BackendName,
  appendfsync: 'always' | 'everysec' = 'everysec',
): Promise<StagedPlane> {
  const folder: TemporaryFolder = temporaryFolder('sallyport-plane');
  const redis = backend === 'redis' ? await startRedis({ appendfsync }) : undefined;
  const storeOptions: StoreOptions =
    redis === undefined
      ? { store: 'embedded', folder: join(folder.path, 'store') }
      : { store: 'redis', redis: { url: redis.url } };
  // This process owns the embedded file; workers are clients of its store thread.
  const store = await openStore(storeOptions);
  const client = await connect(storeOptions);
  const workers: WatchedProcess[] = [];
  const clients: Client[] = [client];
  const effectFile = join(folder.path, 'effects.txt');

  const plane: StagedPlane = {
    storeOptions,
    store,
    client,
    redis,
    folder: folder.path,
    effectFile,
    effects() {
      try {
        return readFileSync(effectFile, 'utf8').split('\n').filter(Boolean);
      } catch {
        return [];
      }
    },
    async connect(options = {}) {
      const another = await connect({ ...storeOptions, ...options } as ConnectOptions);
      clients.push(another);
      return another;
    },
    async connectOutdated() {
      const connected = await openStore(storeOptions);
      const another = createClientOf({ ...connected, watchCatalog: async () => undefined }, {});
      clients.push(another);
      return another;
    },
    openSession: (subject = 'alice') => client.openSession({ subject, agent: 'main' }),
    async startWorker(options = {}, crash, stall) {
      const full = { ...storeOptions, modules: BASIC_MODULES, leaseMs: LEASE_MS, ...options };
      const env = { ...process.env, WORKER: JSON.stringify(full), CRASH: crash, STALL: stall };
      const worker = await spawnNode(WORKER_SCRIPT, [], { env });
      workers.push(worker);
      const line = await worker.waitForLine(/^ready \S+ \S+/);
      const [, workerId, healthUrl] = line.split(' ');
      return { workerId: workerId!, healthUrl: healthUrl!, process: worker };
    },
    async setPolicy(policy) {
      const { version } = await store.readPolicy();
      const written = await store.writePolicy({ expectedVersion: version, policy });
      if (written.kind !== 'written') throw new Error('the policy was changed by somebody else');
    },
    async stop() {
      // Workers are killed: drain.test.ts tests how a worker ends in order, and a worker that holds a call would wait for it.
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await Promise.all(clients.map((each) => each.close()));
      await store.close();
      await redis?.stop();
      folder.remove();
    },
  };
  await plane.setPolicy(OPEN_POLICY);
  return plane;
}

/** The outcome of a call; waits as long as recovery may take. */
export async function outcomeOf(plane: StagedPlane, session: SessionHandle, answer: CallAnswer) {
  if (answer.kind !== 'pending') return answer.outcome;
  const waited = await plane.client.wait(session, answer.callId, { waitMs: PATIENCE_MS });
  if (waited.kind !== 'settled') throw new Error(`call ${answer.callId} is still ${waited.kind}`);
  return waited.outcome;
}

export function untilEffects(plane: StagedPlane, count: number): Promise<string[]> {
  return eventually(() => (plane.effects().length >= count ? plane.effects() : undefined), {
    what: `${count} effects`,
  });
}
