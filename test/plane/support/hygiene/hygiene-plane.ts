import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StoreOptions } from '../../../../src/operate/open-store.ts';
import type { Policy } from '../../../../src/domain/policy/policy.ts';
import type * as Testing from '../../../../src/exports/testing.ts';
import type { Store } from '../../../../src/domain/ports/store.ts';
import { newTokenText } from '../../../../src/domain/identity/token-text.ts';
import { startChaosProxy, type ChaosProxy } from '../../../support/chaos-proxy.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { startRedis, type RedisServer } from '../../../support/redis-server.ts';
import type { BackendName } from '../stage-plane.ts';
import { HYGIENE_MODULES, makeCompressedCopy } from './compressed-copy.ts';
import { createProcess, type HygieneProcess } from './hygiene-process.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const RETENTION_MS = 2000;
const LEASE_MS = 6000;

const POLICY: Policy = {
  roles: {},
  permissions: { '*': { allow: ['*'] } },
  paused: {},
  loops: { default: { enabled: false } },
  rules: [
    { id: 'people-decide', verdict: 'ask', tools: ['near.asks'], ask: { timeoutMs: 1500 } },
    { id: 'never', verdict: 'deny', tools: ['near.echo'], arguments: [{ at: '/text', equals: 'generation 0' }] },
  ],
};

/** A whole deployment in processes that can be inspected, disturbed and ended one by one. */
export interface HygienePlane {
  readonly backend: BackendName;
  /** The only folder that the run may write to. */
  readonly folder: string;
  /** `TMPDIR` of every process. A process with it in its environment belongs to this run, even when its parent is gone. */
  readonly temporary: string;
  readonly storeFolder: string;
  readonly redis: RedisServer | undefined;
  readonly proxy: ChaosProxy | undefined;
  readonly store: Store;
  /** In the order in which they start, each with its role. The workers that are restarted are `worker-2` and higher. */
  readonly processes: readonly HygieneProcess[];
  readonly workers: readonly HygieneProcess[];
  readonly gatewayUrl: string;
  newCaller(role: string): HygieneProcess;
  /** Writes the module files. `near` is code in the workers' own processes, which Node never unloads: see docs/hygiene.md. */
  writeModules(generation: number, which: readonly ('near' | 'apart')[]): void;
  writeConfig(level: 'warn' | 'error'): void;
  setPolicy(generation: number): Promise<void>;
  makeToken(wish: {
    readonly scope: 'agent' | 'operator';
    readonly lifetimeMs: number;
  }): Promise<{ id: string; text: string }>;
  /** Ends the processes in order, as an operator would. */
  drain(): Promise<void>;
  remove(): Promise<void>;
}

export async function stageHygiene(backend: BackendName): Promise<HygienePlane> {
  const own = temporaryFolder('hygiene');
  const folder = own.path;
  const copy = await makeCompressedCopy(join(folder, 'sallyport'));
  const modules = join(copy.folder, 'modules');
  // A short name, because the length of a socket's path is limited.
  const temporary = join(folder, 't');
  for (const path of [modules, temporary]) mkdirSync(path, { recursive: true });
  const redis = backend === 'redis' ? await startRedis() : undefined;
  const proxy = redis && (await startChaosProxy({ port: redis.port }));
  const storeFolder = join(folder, 'store');
  const through = (url: string): StoreOptions => ({ store: 'redis', redis: { url } });
  const beside: StoreOptions = { store: 'embedded', folder: storeFolder, mode: 'connect' };
  const configFile = join(folder, 'sallyport.json');

  const writeModules: HygienePlane['writeModules'] = (generation, which) => {
    for (const name of which.map((each) => `${each}.mjs`)) {
      const text = readFileSync(join(HYGIENE_MODULES, name), 'utf8');
      writeFileSync(join(modules, name), text.replace('GENERATION = 0', `GENERATION = ${generation}`));
    }
  };
  const writeConfig = (level: 'warn' | 'error'): void => {
    const where = proxy === undefined ? { folder: storeFolder } : { store: 'redis', redis: { url: proxy.url } };
    const sink = proxy === undefined ? {} : { sink: 'sqlite', file: join(folder, 'audit.sqlite') };
    const config = {
      ...where,
      log: { level },
      worker: { modules, watch: true, leaseMs: LEASE_MS, concurrency: 16, graceMs: 8000, retentionMs: RETENTION_MS },
      gateway: { http: { port: 0 }, mcp: { sessionIdleMs: 2000, sessionsPerBearer: 200 } },
      audit: { ...sink, keys: join(folder, 'audit-keys'), signEveryMs: 1000, maxAgeMs: 5000 },
      telemetry: { metrics: { enabled: true } },
    };
    writeFileSync(configFile, JSON.stringify(config));
  };
  writeModules(1, ['near', 'apart']);
  writeConfig('error');
  copyFileSync(here('door.mjs'), join(copy.folder, 'door.mjs'));

  const env = { TMPDIR: temporary, XDG_RUNTIME_DIR: temporary, HYGIENE_DOOR: '1', NODE_OPTIONS: undefined };
  const options = { cwd: folder, env };
  const program = (role: string, command: readonly string[], readyLine: RegExp): HygieneProcess =>
    createProcess({
      role,
      args: ['--import', join(copy.folder, 'door.mjs'), copy.main, ...command, '--config', configFile],
      readyLine,
      options,
    });
  const workers = (backend === 'redis' ? ['worker-1', 'worker-2', 'worker-3'] : ['worker-2']).map((role) =>
    program(role, ['worker'], /^Health: /),
  );
  const front =
    backend === 'redis' ? program('gateway', ['gateway'], /^API: /) : program('dev', ['dev'], / http:\/\/\S+\/mcp/);
  const newCaller = (role: string): HygieneProcess => {
    const caller = {
      dist: join(copy.folder, 'dist'),
      store: proxy === undefined ? beside : through(proxy.url),
      retentionMs: RETENTION_MS,
    };
    // door.mjs is in the copy, and the caller loads the product from the copy's dist, so it shares nothing with the sources.
    const args = ['--import', join(copy.folder, 'door.mjs'), here('caller-process.mjs')];
    return createProcess({
      role,
      args,
      readyLine: /^ready/,
      options: { cwd: folder, env: { ...env, CALLER: JSON.stringify(caller) } },
    });
  };
  const caller = newCaller('caller');

  await front.start();
  const { openStore } = (await import(pathToFileURL(copy.fileOf('exports/testing.js')).href)) as typeof Testing;
  const store = await openStore(redis === undefined ? beside : through(redis.url));
  const setPolicy = async (generation: number): Promise<void> => {
    const { version } = await store.readPolicy();
    const rules = POLICY.rules!.map((rule) =>
      rule.id === 'never' ? { ...rule, arguments: [{ at: '/text', equals: `generation ${generation}` }] } : rule,
    );
    const written = await store.writePolicy({ expectedVersion: version, policy: { ...POLICY, rules } });
    if (written.kind !== 'written') throw new Error('the policy was changed by somebody else');
  };
  await setPolicy(1);
  for (const worker of workers) await worker.start();
  await caller.start();
  const processes = [front, ...workers, caller];

  return {
    backend,
    folder,
    temporary,
    storeFolder,
    redis,
    proxy,
    store,
    processes,
    workers,
    gatewayUrl: /http:\/\/[^/\s]+/.exec(front.ready)![0],
    newCaller,
    writeModules,
    writeConfig,
    setPolicy,
    async makeToken({ scope, lifetimeMs }) {
      const { id, text, secretDigest } = newTokenText();
      const identity = { tenant: 'default', subject: 'web', agent: 'main' };
      const token = { id, name: 'soak', scopes: [scope], ...(scope === 'agent' ? { identity } : {}) };
      const answer = await store.createToken({ token, secretDigest, lifetimeMs });
      if (answer.kind !== 'created') throw new Error(`no token: ${answer.kind}`);
      return { id, text };
    },
    async drain() {
      await caller.leave();
      for (const worker of workers) await worker.end('SIGTERM');
      await store.close();
      await front.end('SIGTERM');
    },
    async remove() {
      for (const each of processes) await each.end('SIGKILL');
      await store.close().catch(() => undefined);
      await proxy?.stop();
      await redis?.stop();
      own.remove();
    },
  };
}
