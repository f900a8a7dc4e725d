import { hostname } from 'node:os';
import { importModule } from '../authoring/import-module.ts';
import { createToolIndex, type ToolIndex } from '../catalog/tool-index.ts';
import { loadModules } from '../catalog/load-modules.ts';
import type { LoadResult } from '../catalog/loaded-module.ts';
import { publishModules, type PublishRequest } from '../catalog/publish-catalog.ts';
import { createValidatorCache } from '../catalog/validate-arguments.ts';
import { watchModules, type ModuleWatch } from '../catalog/watch-modules.ts';
import { LIMITS } from '../domain/call.ts';
import { planeError } from '../domain/errors.ts';
import { NAME_PATTERN, type WorkerId } from '../domain/ids.ts';
import { createLog } from '../observe/log.ts';
import type { AdmissionLimits } from '../ports/call-store.ts';
import type { WorkerEntry } from '../ports/fleet-registry.ts';
import type { Log } from '../ports/log.ts';
import type { Plane } from '../ports/plane.ts';
import { InlineRunner } from '../runners/inline/inline-runner.ts';
import { ProcessRunner, type ProcessRunnerOptions } from '../runners/process/process-runner.ts';
import { newWorkerId } from '../wire/ids.ts';
import { consume } from '../worker/consume.ts';
import { createFleetView } from '../worker/fleet-view.ts';
import { createHeldCalls } from '../worker/held-calls.ts';
import { createInFlight } from '../worker/in-flight.ts';
import { createNestedCalls } from '../worker/nested-calls.ts';
import { createPolicyCache } from '../worker/policy-cache.ts';
import { createSlots } from '../worker/slots.ts';
import { createVitalSigns, type WorkerState } from '../worker/vital-signs.ts';
import { DEFAULT_ADMISSION, DEFAULT_RETENTION_MS } from './defaults.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import { RELEASE } from './release.ts';
import { startSupervisor } from './supervisor.ts';

export type WorkerOptions = StoreOptions & {
  /** A folder of modules, or a manifest. */
  readonly modules: string;
  readonly pool?: string;
  readonly concurrency?: number;
  /** A worker that is silent for so long has lost its calls. */
  readonly leaseMs?: number;
  readonly heartbeatMs?: number;
  readonly retentionMs?: number;
  /** How long a drain waits for calls under way. */
  readonly graceMs?: number;
  /** Where `/healthz` and `/readyz` are served; port 0 takes a free one; false serves none. */
  readonly health?: { readonly host?: string; readonly port: number } | false;
  /** Load modules again when their files change. */
  readonly watch?: boolean;
  readonly admission?: Partial<AdmissionLimits>;
  readonly processes?: ProcessRunnerOptions;
  readonly log?: Log;
};

export interface RunningWorker {
  readonly workerId: WorkerId;
  readonly healthUrl: string | undefined;
  readonly loaded: LoadResult;
  /** Stops taking calls, waits for those under way up to the grace, gives the rest back, and leaves nothing behind. */
  drain(): Promise<void>;
  /** Rejects when the worker cannot go on: its store was replaced, its supervisor ended. */
  readonly failed: Promise<never>;
}

const FLEET_TTL_MS = 10_000;
const AFTER_ABORT_MS = 5000;

/** Boot: modules, store, supervisor, catalog, registry, consumer; only then is the worker ready. */
export async function startWorker(
  options: WorkerOptions,
  parts: { readonly openStore: typeof openStore } = { openStore },
): Promise<RunningWorker> {
  const settings = checkSettings(options);
  const { workerId, pool } = settings;
  const log = options.log ?? createLog('warn');
  const loadOptions = { pool, known: new Map() };
  const loaded = await loadModules(options.modules, loadOptions);
  const store = await parts.openStore(options);
  const startedAt = await store.now();

  // Calls under way, each level of nested calls again, and what recovery and further lanes add.
  const held = createHeldCalls(settings.concurrency * (LIMITS.nestedDepth + 1) + store.lanes + 64);
  const vitals = createVitalSigns();
  const inFlight = createInFlight(held);
  const slots = createSlots(settings.concurrency);
  const admission = { ...DEFAULT_ADMISSION, ...options.admission };
  const nested = createNestedCalls({ store, slots, admission, retentionMs: settings.retentionMs });
  const processes = new ProcessRunner({ maxProcesses: settings.concurrency, ...options.processes });
  const runners = { inline: new InlineRunner(), process: processes };
  const validators = createValidatorCache();
  let served = servedBy(loaded, pool);
  await importInline(served);
  let index: ToolIndex = createToolIndex(served.modules, validators);
  const fleet = createFleetView(store, { workerId, pool });

  let crashes = 0;
  const plane: Plane = {
    workerId,
    store,
    policies: createPolicyCache(store),
    runners,
    log,
    tools: () => index,
    servedElsewhere: (digest) => fleet.servedElsewhere(digest),
    nested: nested.run,
    onSettled: (outcome) => void (crashes += outcome === 'crashed' ? 1 : 0),
    settings: { retentionMs: settings.retentionMs, trustSnapshotMs: 250 },
  };

  const supervisor = await startSupervisor(
    {
      store: supervisorStore(options),
      held: held.shared,
      vitals: vitals.shared,
      settings: {
        workerId,
        pool,
        leaseMs: settings.leaseMs,
        heartbeatMs: settings.heartbeatMs,
        retentionMs: settings.retentionMs,
      },
      health: options.health === false ? undefined : { host: '127.0.0.1', port: 0, ...options.health },
    },
    {
      stop: (order) => inFlight.stop(order, order.why),
      trouble: (problem) => log.warn({ problem }, 'the supervisor cannot reach the store'),
    },
  );

  function entry(state: Exclude<WorkerState, 'stopped'>): WorkerEntry {
    return {
      workerId,
      pool,
      host: hostname(),
      pid: process.pid,
      release: RELEASE,
      startedAt,
      state,
      concurrency: settings.concurrency,
      running: inFlight.size,
      crashes,
      modules: served.modules.map(({ declaration: { id, digest } }) => ({ id, digest })),
      toolDigests: index.toolDigests,
      broken: served.broken,
    };
  }
  const register = (state: Exclude<WorkerState, 'stopped'>): Promise<void> =>
    store.registerWorker({ worker: entry(state), ttlMs: FLEET_TTL_MS });

  async function publish(next: LoadResult, gone: PublishRequest['gone'] = []): Promise<void> {
    const modules = next.modules.map(({ declaration }) => declaration);
    const published = await publishModules(store, { modules, gone, broken: next.broken });
    log.info({ modules: modules.length, broken: next.broken.length, ...published }, 'catalog published');
  }
  await publish(served);
  await register('serving');
  const consumer = consume(
    { workerId, pool, concurrency: settings.concurrency, leaseMs: settings.leaseMs },
    { store, plane, slots, inFlight, vitals, log, onNestedWait: nested.onWait },
  );
  vitals.state = 'serving';

  const heartbeat = setInterval(() => {
    register(vitals.state === 'draining' ? 'draining' : 'serving').catch((error: unknown) =>
      log.warn({ error }, 'heartbeat not written'),
    );
  }, FLEET_TTL_MS / 3);

  const watch: ModuleWatch | undefined =
    options.watch !== true
      ? undefined
      : watchModules(options.modules, {
          ...loadOptions,
          current: loaded,
          async onReload(result) {
            const before = served.modules.map(({ declaration }) => declaration);
            const next = servedBy(result, pool);
            await importInline(next);
            served = next;
            index = createToolIndex(served.modules, validators);
            const now = new Set(served.modules.map(({ declaration }) => declaration.id));
            await publish(
              served,
              before.filter(({ id }) => !now.has(id)),
            );
            await register('serving');
            for (const broken of result.broken) log.error(broken, 'module not loaded; the others are served');
          },
          onTrouble: (error) => log.error({ error }, 'modules not reloaded; the old ones are served on'),
        });
  await watch?.ready;

  let drained: Promise<void> | undefined;
  async function drain(): Promise<void> {
    vitals.state = 'draining';
    await watch?.close();
    await register('draining').catch(() => undefined);
    await consumer.stop();
    if (!(await inFlight.idle(settings.graceMs))) {
      log.warn({ running: inFlight.size }, 'grace is over; calls under way are stopped');
      inFlight.stopAll('draining');
      await inFlight.idle(AFTER_ABORT_MS);
    }
    clearInterval(heartbeat);
    vitals.state = 'stopped';
    nested.close();
    await Promise.all(Object.values(runners).map((runner) => runner.close()));
    await store.deregisterWorker(workerId).catch(() => undefined);
    await supervisor.close();
    await store.close();
  }

  const failed = Promise.race([consumer.halted, supervisor.failed]);
  failed.catch(() => undefined);
  return {
    workerId,
    healthUrl: supervisor.healthUrl,
    loaded: served,
    drain: () => (drained ??= drain()),
    failed,
  };
}

function servedBy({ modules, broken }: LoadResult, pool: string): LoadResult {
  return { modules: modules.filter(({ declaration }) => declaration.pool === pool), broken };
}

/** Imported before they are served: a first call does not pay for it, and a module that is kept needs its file no more. */
async function importInline({ modules }: LoadResult): Promise<void> {
  const inline = modules.filter(({ runner }) => runner === 'inline');
  await Promise.all(inline.map(({ file, generation }) => importModule({ file, generation })));
}

/** Only what can be handed to a thread. The embedded store has one owner, so the supervisor connects to it. */
function supervisorStore(options: StoreOptions): StoreOptions {
  if (options.store === 'redis') return { store: 'redis', redis: options.redis };
  const { folder } = options;
  return { store: 'embedded', mode: 'connect', ...(folder === undefined ? {} : { folder }) };
}

function checkSettings(options: WorkerOptions) {
  const settings = {
    workerId: newWorkerId(),
    pool: options.pool ?? 'default',
    concurrency: options.concurrency ?? 64,
    leaseMs: options.leaseMs ?? 15_000,
    heartbeatMs: options.heartbeatMs ?? Math.floor((options.leaseMs ?? 15_000) / 3),
    retentionMs: options.retentionMs ?? DEFAULT_RETENTION_MS,
    graceMs: options.graceMs ?? 30_000,
  };
  const problems: string[] = [];
  if (!NAME_PATTERN.test(settings.pool)) problems.push(`pool "${settings.pool}" is not a name`);
  if (!Number.isInteger(settings.concurrency) || settings.concurrency < 1 || settings.concurrency > 4096) {
    problems.push(`concurrency ${settings.concurrency} must be a whole number from 1 to 4096`);
  }
  for (const name of ['leaseMs', 'heartbeatMs', 'retentionMs', 'graceMs'] as const) {
    const least = name === 'graceMs' ? 0 : 1;
    if (!Number.isInteger(settings[name]) || settings[name] < least)
      problems.push(`${name} ${settings[name]} must be ${least} or more`);
  }
  if (settings.heartbeatMs > settings.leaseMs / 3) {
    problems.push(`heartbeatMs ${settings.heartbeatMs} must be ≤ leaseMs/3 (${Math.floor(settings.leaseMs / 3)})`);
  }
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems });
  return settings;
}
