import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore, type StoreOptions } from '../../../../src/operate/open-store.ts';
import type { Policy } from '../../../../src/domain/policy/policy.ts';
import { connect, type Client } from '../../../../src/exports/client.ts';
import type { Store } from '../../../../src/domain/ports/store.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { startRedis } from '../../../support/redis-server.ts';
import { LEASE_MS, type BackendName } from '../stage-plane.ts';
import { createSoakProcess, type SoakProcess } from './soak-process.ts';

const scriptOf = (name: string): string => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
const MODULES = fileURLToPath(new URL('../../../fixtures/soak-plane', import.meta.url));

/** Few on purpose: if a parked call kept a slot, nothing would go on. */
export const CONCURRENCY = 2;
export const WORKERS = 2;
/** The timeout of questions that no approver answers. */
const SOON_MS = 1500;

const POLICY: Policy = {
  roles: {},
  permissions: { '*': { allow: ['*'] } },
  paused: {},
  rules: [
    { id: 'never', verdict: 'deny', tools: ['soak.write'], arguments: [{ at: '/number', range: { max: -1 } }] },
    {
      id: 'people-decide',
      verdict: 'ask',
      tools: ['soak.write'],
      arguments: [{ at: '/fate', equals: 'decide' }],
      ask: { timeoutMs: 60 * 60 * 1000 },
    },
    {
      id: 'nobody-decides',
      verdict: 'ask',
      tools: ['soak.write'],
      arguments: [{ at: '/fate', equals: 'expire' }],
      ask: { timeoutMs: SOON_MS },
    },
  ],
};

export const APPROVERS = ['anna', 'bert'] as const;
export type ApproverName = (typeof APPROVERS)[number];

/** A line that the tool wrote when it ran. */
export interface Ran {
  readonly callId: string;
  readonly bytes: string;
}

/** A store, two workers, a caller and two approvers: separate processes, each of which can be killed. */
export interface SoakPlane {
  readonly store: Store;
  readonly client: Client;
  readonly file: string;
  readonly caller: SoakProcess;
  readonly approvers: Readonly<Record<ApproverName, SoakProcess>>;
  /** The first worker owns the file of an embedded store. */
  readonly workers: readonly SoakProcess[];
  /** Kills processes with SIGKILL and starts them again. `everything` is killed at once. */
  crash(what: 'everything' | 'store' | 'workers' | 'approvers'): Promise<void>;
  ran(): Ran[];
  stop(): Promise<void>;
}

export async function stageSoak(backend: BackendName): Promise<SoakPlane> {
  const folder = temporaryFolder('sallyport-soak');
  // With `everysec`, Redis may answer before it has written, while an fsync is under way. A kill -9 then loses what it had answered.
  const redis = backend === 'redis' ? await startRedis({ appendfsync: 'always' }) : undefined;
  const options: StoreOptions =
    redis === undefined
      ? { store: 'embedded', folder: join(folder.path, 'store'), mode: 'connect' }
      : { store: 'redis', redis: { url: redis.url } };
  // A killed owner leaves its socket behind; here the socket is deleted with the folder.
  const place = { XDG_RUNTIME_DIR: folder.path };
  const newClient = (): SoakProcess =>
    createSoakProcess(scriptOf('client-process'), { ...place, CLIENT: JSON.stringify(options) });
  const workers = Array.from({ length: WORKERS }, (_, index) => {
    const mode = redis === undefined && index === 0 ? { mode: 'own' } : {};
    const worker = { ...options, ...mode, modules: MODULES, leaseMs: LEASE_MS, concurrency: CONCURRENCY };
    return createSoakProcess(scriptOf('worker-process'), { ...place, WORKER: JSON.stringify(worker) });
  });
  const caller = newClient();
  const approvers = { anna: newClient(), bert: newClient() };
  const others = [...workers.slice(1), caller, ...Object.values(approvers)];

  await workers[0]!.start();
  await Promise.all(others.map((each) => each.start()));
  const store = await openStore(options);
  const client = await connect(options);
  await store.writePolicy({ expectedVersion: (await store.readPolicy()).version, policy: POLICY });

  const killed = {
    everything: [workers[0]!, ...others],
    store: [],
    workers,
    approvers: Object.values(approvers),
  };
  const file = join(folder.path, 'ran.txt');
  return {
    store,
    client,
    file,
    caller,
    approvers,
    workers,
    async crash(what) {
      const withRedis = redis !== undefined && (what === 'everything' || what === 'store');
      const dying = what === 'store' && redis === undefined ? [workers[0]!] : killed[what];
      await Promise.all([...dying.map((each) => each.kill()), ...(withRedis ? [redis.kill('SIGKILL')] : [])]);
      if (withRedis) await redis.restart();
      // The owner of an embedded store starts before the processes that connect to it.
      if (dying.includes(workers[0]!)) await workers[0]!.start();
      await Promise.all(dying.filter((each) => each !== workers[0]).map((each) => each.start()));
    },
    ran() {
      try {
        const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
        return lines.map((line) => JSON.parse(line) as Ran);
      } catch {
        return [];
      }
    },
    async stop() {
      await Promise.all([client.close(), store.close()]);
      // These processes are made to be killed, and what they leave behind is deleted with the folder.
      await Promise.all([workers[0]!, ...others].map((each) => each.kill()));
      await redis?.stop();
      folder.remove();
    },
  };
}
