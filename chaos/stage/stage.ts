import { cpSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, type SessionHandle } from 'sallyport/client';
import { openStore, type StoreOptions } from 'sallyport/testing';
import { temporaryFolder } from '../../test/support/process.ts';
import { startRedis, type RedisServer } from '../../test/support/redis-server.ts';
import type { CallerSetting } from '../workload/caller-process.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import type { OperatorSetting } from '../workload/operator-process.ts';
import type { Plan } from '../workload/plan.ts';
import { chaosPolicy } from '../workload/policy.ts';
import { insist } from './insist.ts';
import { createSlot, type Slot, type SlotRole } from './slot.ts';

export type StoreName = 'redis' | 'embedded';

export const LEASE_MS = 1000;
const CONCURRENCY = 16;
/** Longer than any tool of this workload takes. */
const GRACE_MS = 25_000;
const REDIS_WORKERS = 3;

/** Everything of one run: the store, the processes, and the files to which they write what they observe. */
export interface Stage {
  readonly store: StoreName;
  readonly options: StoreOptions;
  readonly redis: RedisServer | undefined;
  readonly folder: string;
  readonly files: StageFiles;
  readonly workers: readonly Slot[];
  readonly callers: readonly Slot[];
  readonly operator: Slot;
  readonly sessions: readonly SessionHandle[];
  readonly plan: Plan;
  readonly startAtMs: number;
  /** Unexpected ends of processes, and processes that did not become ready. */
  readonly troubles: string[];
  /** Periods in which no worker was up. */
  readonly away: readonly { readonly fromMs: number; toMs: number }[];
  clockFile(slot: string): string;
  /** The file that arms the trap of a slot; see `armTrap`. */
  trapFile(slot: string): string;
  start(): Promise<void>;
  /** Kills the processes that still run and removes the folder. With `copyTo`, copies the folder first. */
  stop(copyTo?: string): Promise<void>;
}

interface StageFiles {
  readonly effects: string;
  readonly workerLog: string;
  readonly stalls: string;
  /** `hooks` has lines of `HookEntry`, `trapped` has lines of `TrapEntry`. */
  readonly hooks: string;
  readonly trapped: string;
  readonly operator: string;
  readonly caller: (index: number) => string;
}

const scriptOf = (name: string): string => fileURLToPath(new URL(`../workload/${name}.js`, import.meta.url));
const MODULES = fileURLToPath(new URL('../workload/modules', import.meta.url));
const HOOKS = [{ file: scriptOf('hooks/slow-hook') }];

/** Time until the first call. All processes are up by then. */
const LEAD_MS = 1500;

export async function openStage(storeName: StoreName, plan: Plan): Promise<Stage> {
  const folder = temporaryFolder('sallyport-chaos');
  // `always`, because with `everysec` a killed Redis may lose writes that it has acknowledged; see docs/failure.md.
  const redis = storeName === 'redis' ? await startRedis({ appendfsync: 'always' }) : undefined;
  const options: StoreOptions =
    redis === undefined
      ? { store: 'embedded', folder: join(folder.path, 'store'), mode: 'connect' }
      : { store: 'redis', redis: { url: redis.url } };
  const files: StageFiles = {
    effects: join(folder.path, 'effects.log'),
    workerLog: join(folder.path, 'workers.jsonl'),
    stalls: join(folder.path, 'stalls.jsonl'),
    hooks: join(folder.path, 'hooks.jsonl'),
    trapped: join(folder.path, 'trapped.jsonl'),
    operator: join(folder.path, 'operator.jsonl'),
    caller: (index) => join(folder.path, `caller-${index}.jsonl`),
  };
  writeFileSync(files.effects, '');
  const troubles: string[] = [];
  const away: { fromMs: number; toMs: number }[] = [];
  /** Called when a process becomes ready or stops being ready. */
  function noteAway(): void {
    const open = away.at(-1)?.toMs === Infinity ? away.at(-1) : undefined;
    const isUp = workers.some(({ isReady }) => isReady);
    if (isUp && open !== undefined) open.toMs = monotonicMs();
    if (!isUp && open === undefined) away.push({ fromMs: monotonicMs(), toMs: Infinity });
  }
  const clockFile = (slot: string): string => join(folder.path, `clock-${slot}`);
  const trapFile = (slot: string): string => join(folder.path, `trap-${slot}`);
  // XDG_RUNTIME_DIR: a killed owner leaves its socket behind. In the run's folder, the socket is removed together with the folder.
  const place = {
    XDG_RUNTIME_DIR: folder.path,
    CHAOS_EFFECTS: files.effects,
    CHAOS_LOG: files.workerLog,
    CHAOS_STALLS: files.stalls,
    CHAOS_HOOKS: files.hooks,
    CHAOS_TRAPPED: files.trapped,
  };
  const slotOf = (name: string, role: SlotRole, script: string, env: Record<string, string>): Slot =>
    createSlot({
      name,
      role,
      script: scriptOf(script),
      execArgv: ['--import', scriptOf('shifted-clock')],
      env: { ...place, ...env, CHAOS_CLOCK: clockFile(name), CHAOS_TRAP: trapFile(name) },
      onError: (what) => troubles.push(what),
      onChange: () => noteAway(),
    });

  const sessionsFile = join(folder.path, 'sessions.json');
  const workers = workerSlots(storeName, options, slotOf);
  const stage = {
    store: storeName,
    options,
    redis,
    folder: folder.path,
    files,
    workers,
    callers: [] as Slot[],
    operator: undefined as unknown as Slot,
    sessions: [] as readonly SessionHandle[],
    startAtMs: 0,
    troubles,
    away,
    plan,
    clockFile,
    trapFile,
    async start() {
      await workers[0]!.start();
      await Promise.all(workers.slice(1).map((worker) => worker.start()));
      stage.sessions = await insist(() => openSessions(options, plan));
      writeFileSync(sessionsFile, JSON.stringify(stage.sessions));
      stage.startAtMs = monotonicMs() + LEAD_MS;
      const { startAtMs } = stage;
      const common = { store: options, startAtMs, sessions: sessionsFile };
      const operator: OperatorSetting = { ...common, planned: plan.sessions, journal: files.operator };
      stage.operator = slotOf('operator', 'operator', 'operator-process', { CHAOS_OPERATOR: JSON.stringify(operator) });
      for (let index = 0; index < plan.callers; index += 1) {
        const calls = join(folder.path, `calls-${index}.json`);
        writeFileSync(calls, JSON.stringify(plan.calls.filter((call) => call.caller === index)));
        const caller: CallerSetting = { ...common, calls, journal: files.caller(index) };
        const env = { CHAOS_CALLER: JSON.stringify(caller) };
        stage.callers.push(slotOf(`caller${index}`, 'caller', 'caller-process', env));
      }
      await Promise.all([stage.operator, ...stage.callers].map((slot) => slot.start()));
    },
    async stop(copyTo?: string) {
      const operator = stage.operator as Slot | undefined;
      const slots = [...workers, ...stage.callers, ...(operator === undefined ? [] : [operator])];
      await Promise.all(slots.map((slot) => slot.retire('SIGKILL', 0)));
      await redis?.stop();
      if (copyTo !== undefined) cpSync(folder.path, copyTo, { recursive: true, filter: isFileOrFolder });
      folder.remove();
    },
  };
  return stage;
}

/** Leaves out the socket of an owner, which cannot be copied. */
function isFileOrFolder(path: string): boolean {
  const found = lstatSync(path);
  return found.isFile() || found.isDirectory();
}

function workerSlots(
  storeName: StoreName,
  options: StoreOptions,
  slotOf: (name: string, role: SlotRole, script: string, env: Record<string, string>) => Slot,
): Slot[] {
  const common = {
    ...options,
    modules: MODULES,
    hooks: HOOKS,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    graceMs: GRACE_MS,
  };
  const env = (own: object): Record<string, string> => ({ CHAOS_WORKER: JSON.stringify({ ...common, ...own }) });
  if (storeName === 'redis') {
    return Array.from({ length: REDIS_WORKERS }, (_, index) =>
      slotOf(`worker${index}`, 'worker', 'worker-process', env({})),
    );
  }
  return [
    slotOf('owner', 'owner', 'worker-process', env({ mode: 'own' })),
    slotOf('worker1', 'worker', 'worker-process', env({})),
  ];
}

async function openSessions(options: StoreOptions, plan: Plan): Promise<SessionHandle[]> {
  const store = await openStore(options);
  const client = await connect(options).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  try {
    const { version } = await store.readPolicy();
    await store.writePolicy({ expectedVersion: version, policy: chaosPolicy('open') });
    return await Promise.all(plan.sessions.map(({ subject }) => client.openSession({ subject, agent: 'main' })));
  } finally {
    await Promise.all([client.close(), store.close()]);
  }
}
