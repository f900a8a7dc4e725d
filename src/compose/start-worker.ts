import { subjectShares } from '../domain/call/subject-share.ts';
import { hostname } from 'node:os';
import { keepPublished, type KeptPublication } from '../modules/catalog/keep-published.ts';
import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import { sourcesOf } from '../modules/catalog/module-sources.ts';
import { LIMITS } from '../domain/call/call.ts';
import { nestedPool, type WorkerId } from '../domain/identity/ids.ts';
import { createEventBus } from '../observe/event-bus.ts';
import { createLog } from '../observe/log.ts';
import { startTelemetry, type Telemetry } from '../observe/telemetry.ts';
import { withActiveSpan } from '../observe/traces/active-span.ts';
import type { EventSource } from '../domain/ports/events.ts';
import { createWorkerEffects } from '../worker/call-effects.ts';
import { DEFAULT_EFFECT_LIMITS } from '../domain/platform/platform-settings.ts';
import type { ApprovalNotifier } from '../domain/ports/approval-notifier.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { ToolRunner } from '../domain/ports/tool-runner.ts';
import { InlineRunner } from '../worker/runners/inline/inline-runner.ts';
import { ProcessRunner } from '../worker/runners/process/process-runner.ts';
import { readSealer } from '../audit/auditor-keys.ts';
import { createRedactor } from '../observe/redact/create-redactor.ts';
import { createSecretSource } from '../worker/secrets/create-secret-source.ts';
import { findingRepeated, withRepeatedMasked } from '../worker/secrets/repeated-arguments.ts';
import { withSecrets } from '../worker/secrets/run-with-secrets.ts';
import { runApprovalCallbacks, type ApprovalCallbacks } from '../worker/approval-callbacks.ts';
import { createApprovalWebhook } from '../worker/approval-webhook.ts';
import { createTasksModule } from '../modules/long-calls/tasks-module.ts';
import { consume } from '../worker/consume.ts';
import { endLeftCalls } from '../worker/end-left-calls.ts';
import { createFleetView } from '../worker/fleet-view.ts';
import { createHeldCalls } from '../worker/held-calls.ts';
import { createInFlight, finishCalls } from '../worker/in-flight.ts';
import { createNestedCalls } from '../worker/nested-calls.ts';
import { createPolicyCache } from '../worker/policy-cache.ts';
import { createSlots } from '../worker/slots.ts';
import { createHoldWithoutSlot, MAX_HELD_WITHOUT_SLOT } from '../worker/hold-without-slot.ts';
import { keepsTrail } from '../domain/ports/store.ts';
import { timeStore } from '../worker/store-age.ts';
import { createToolLimiter } from '../worker/tool-limiter.ts';
import { createVitalSigns } from '../worker/vital-signs.ts';
import { createClosers } from '../base/closers.ts';
import { DEFAULT_ADMISSION } from '../operate/defaults.ts';
import { createFleetMembership } from './fleet-membership.ts';
import { findModuleProblems, warnOfSetups } from './module-problems.ts';
import { openStore } from '../operate/open-store.ts';
import { serviceSecrets } from './service-secrets.ts';
import { redactionKeyFor } from '../operate/redaction-key-for.ts';
import { RELEASE } from '../base/release.ts';
import { loadServedModules, logChanges, type ModuleChanges } from './served-modules.ts';
import { startSupervisor } from './supervisor.ts';
import { supervisorStore } from './supervisor-store.ts';
import { createWorkerServices, refuseUnmetNeeds, wantedServices, watchHealth } from './worker-services.ts';
import { emitHookFailures } from './emit-hook-failures.ts';
import { loadWorkerHooks } from './worker-hooks.ts';
import { workerSettings, type WorkerOptions } from './worker-settings.ts';
import { createUpstreams, upstreamsFolder } from './create-upstreams.ts';
import { notifierOf } from './notifier-of.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import { withdrawDeleted } from '../operate/withdraw-modules.ts';

export type { WorkerOptions } from './worker-settings.ts';

export interface RunningWorker {
  readonly workerId: WorkerId;
  readonly healthUrl: string | undefined;
  readonly loaded: LoadResult;
  /** All modules that were found at the start, including those of other pools, which this worker does not serve. */
  readonly found: LoadResult;
  /** Modules that the catalog has in another version, and those that were rolled back. */
  readonly versions: KeptPublication['versions'];
  /** Whether this worker runs calls of the tool. Always false once it drains. */
  serves(tool: string): boolean;
  /** Diagnostic events of the calls that this worker runs. */
  readonly events: EventSource;
  /**
   * Stops taking calls, waits up to `graceMs` for those under way, and stops the rest. Stopped calls go back to the queue, unless an unsafe
   * tool may have run: they end as `indeterminate`. Then closes everything that the worker opened.
   */
  drain(): Promise<void>;
  /** Rejects when the worker cannot go on: its store was replaced, or its supervisor ended. */
  readonly failed: Promise<never>;
}

const FLEET_TTL_MS = 10_000;
const AFTER_ABORT_MS = 5000;
/** If the store's last answer about a call is older than this when the call starts, the call is checked again. */
const TRUST_SNAPSHOT_MS = 250;

export interface WorkerParts {
  readonly openStore: typeof openStore;
  /** Process-wide telemetry, for a process that contains more than a worker. The creator closes it. */
  readonly telemetry?: Telemetry | undefined;
  /** Called after each reload of modules, before they are published. A failure is logged, and changes nothing else. */
  readonly onReload?: (changes: ModuleChanges) => Promise<void>;
  /** Is notified of questions, in addition to the webhook of the options. */
  readonly approvals?: ApprovalNotifier | undefined;
}

/** Given if the worker runs in the process of its callers. It serves the pinned tools there, from a queue of its own. */
export interface PrivatePlace {
  readonly pool: string;
}

export function startWorker(options: WorkerOptions, parts: WorkerParts = { openStore }): Promise<RunningWorker> {
  return bootWorker(options, undefined, parts);
}

/** Starts the parts of a worker in this order: modules, store, supervisor, registry, catalog, consumer. Only then is the worker ready. */
export async function bootWorker(
  options: WorkerOptions,
  place: PrivatePlace | undefined,
  parts: WorkerParts,
): Promise<RunningWorker> {
  const closers = createClosers();
  try {
    return await boot(options, place, parts, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function boot(
  options: WorkerOptions,
  place: PrivatePlace | undefined,
  parts: WorkerParts,
  closers: ReturnType<typeof createClosers>,
): Promise<RunningWorker> {
  const named = workerSettings(options);
  const settings = place === undefined ? named : { ...named, pool: place.pool };
  const { workerId, pool, concurrency } = settings;
  const placement = place === undefined ? undefined : 'caller';
  const log = options.log ?? createLog('warn');
  if (place === undefined && options.store === 'redis') {
    const { checkRedisServer } = await import('../operate/check-redis-server.ts');
    await checkRedisServer(options.redis, 'worker', log);
  }
  const sealer = options.auditor === undefined ? undefined : readSealer(options.auditor.keyFile);
  const telemetry =
    parts.telemetry ??
    (await startTelemetry(options.telemetry ?? {}, { role: 'worker', release: RELEASE, instance: workerId, log }));
  if (parts.telemetry === undefined) closers.add(async () => telemetry?.close());
  const events = createEventBus({ onError: (problem, error) => log.warn({ error }, problem) });
  // Closers run in reverse order, so only telemetry, which listens to the events, closes
  // after them. Events emitted while the rest closes are still delivered.
  closers.add(() => events.close());
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const tasks =
    options.tasks === true && place === undefined
      ? [createTasksModule(named.pool, { store: () => store, retentionMs: named.retentionMs })]
      : [];
  const secrets = createSecretSource(options.secrets ?? []);
  const entries = options.services ?? {};
  const services = await createWorkerServices({ entries, store: options, secret: serviceSecrets(secrets), log });
  closers.add(() => services.stop());
  // The store is opened when modules were found, so that a mistyped path leaves no new store behind.
  let opening: ReturnType<typeof openStore> | undefined;
  const openOnce = (): ReturnType<typeof openStore> =>
    (opening ??= parts.openStore(options).then((opened) => {
      closers.add(() => opened.close());
      return opened;
    }));
  /** The MCP servers. They are made when the store is open, and the modules are found before that. */
  const mcp: { upstreams?: Upstreams | undefined } = {};
  const modules = await loadServedModules(
    options.modules,
    { pool: named.pool, placement, builtIn: () => [...tasks, ...(mcp.upstreams?.modules() ?? [])] },
    log,
    async () => (await (await openOnce()).readCatalog()).modules.map(({ id }) => id),
    async (found) => {
      const met = refuseUnmetNeeds(found, services.known);
      await services.start(wantedServices(entries, met.modules));
      return met;
    },
  );
  telemetry?.follow(events, { pool, serves: (tool) => modules.serves(tool) });
  const reporting = { log, onEvent: emitHookFailures(events) };
  const hooks =
    options.hooks === undefined ? undefined : await loadWorkerHooks(options.hooks, modules.found, reporting);
  const webhook = options.approvals?.webhook && createApprovalWebhook(options.approvals.webhook, log);
  const opened = await openOnce();
  const { store, age } = timeStore(opened);
  const startedAt = await store.now();
  const redactionKey = redactionKeyFor(options, options.redaction?.keyFile);
  const redactor = findingRepeated(createRedactor(redactionKey), redactionKey);
  const guarded = (runner: ToolRunner): ToolRunner => withRepeatedMasked(withSecrets(runner, secrets), redactor);
  const upstreams = createUpstreams(place === undefined ? options : {}, {
    store: openOnce,
    secrets,
    log,
    folder: upstreamsFolder(options),
    pool: named.pool,
    guard: guarded,
  });
  closers.add(async () => upstreams?.close());
  mcp.upstreams = upstreams;
  await upstreams?.start();
  if (upstreams !== undefined) await modules.readBuiltIn();
  // One prompt answer from each lane shows how its clock differs from that of this process. Without it, the first call of a lane would
  // count as old and be checked twice.
  const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
  await Promise.all(lanes.map((lane) => store.recheckSessions({ lane, sessions: [] })));
  const { audit: bounds } = options;
  if (bounds !== undefined && !keepsTrail(opened)) {
    await Promise.all(lanes.map((lane) => opened.boundAudit({ lane, bounds })));
  }

  // Room for the calls under way, the same number again for each level of nested calls, the calls that wait without a slot
  // (`MAX_HELD_WITHOUT_SLOT`), and those that recovery and further lanes add.
  const held = createHeldCalls(concurrency * (LIMITS.nestedDepth + 1) + MAX_HELD_WITHOUT_SLOT + store.lanes + 64);
  const vitals = createVitalSigns();
  const inFlight = createInFlight(held);
  const slots = createSlots(concurrency);
  const nestedSlots = createSlots(1);
  const limiter = createToolLimiter(slots);
  const admission = { ...DEFAULT_ADMISSION, ...options.admission };
  const nested = createNestedCalls({
    store,
    nestedSlots,
    limiter,
    admission,
    retentionMs: settings.retentionMs,
    events,
    pinned: place && { poolOf: (tool) => (modules.serves(tool) ? place.pool : undefined) },
  });
  warnOfSetups(modules.loaded, secrets, log);
  const processes = new ProcessRunner({ maxProcesses: concurrency, ...options.processes, sourcesOf });
  const runners = {
    inline: guarded(telemetry?.traces === true ? await withActiveSpan(new InlineRunner()) : new InlineRunner()),
    process: guarded(processes),
    'process-per-call': guarded(processes.perCall()),
  };
  closers.add(() => processes.close());
  const effects =
    options.outbound && createWorkerEffects(store, { ...DEFAULT_EFFECT_LIMITS, ...options.outbound }, log);
  closers.add(async () => effects?.close());
  const fleet = createFleetView(store, { workerId, pool });
  const publication = keepPublished(store, log);
  telemetry?.followWorker({ pool, concurrency, running: () => inFlight.size });
  let crashes = 0;

  const plane: Plane = {
    workerId,
    store,
    policies: createPolicyCache(store),
    runners,
    log,
    events,
    ...(hooks === undefined ? {} : { hooks }),
    ...notifierOf(webhook, parts.approvals),
    redactor,
    ...(sealer === undefined ? {} : { sealer }),
    secrets,
    services,
    ...(effects === undefined ? {} : { effects }),
    ...(placement === undefined ? {} : { placement }),
    tools: () => modules.index,
    peersFor: (digest) => fleet.peersFor(digest),
    publishedDigest: (tool) => publication.publishedDigest(tool),
    holdWithoutSlot: createHoldWithoutSlot({ slots, nested: { pool: nestedPool(pool), slots: nestedSlots }, limiter }),
    nested: nested.run,
    onSettled: (outcome) => void (crashes += outcome === 'crashed' ? 1 : 0),
    settings: { retentionMs: settings.retentionMs, trustSnapshotMs: TRUST_SNAPSHOT_MS },
    shares: subjectShares(admission),
  };

  const supervisor = await startSupervisor(
    {
      store: supervisorStore(options),
      held: held.shared,
      vitals: vitals.shared,
      settings,
      health: options.health === false ? undefined : { host: '127.0.0.1', port: 0, ...options.health },
      metrics: telemetry?.metricsText !== undefined,
    },
    {
      stop: (order) => inFlight.stop(order, order.why),
      failed: (problem) => log.warn({ problem }, 'the supervisor cannot reach the store'),
      metricsText: async () => (await telemetry?.metricsText?.()) ?? '',
      reaped(callIds, overdue) {
        for (const callId of callIds) events.emit('call.expired', { stage: 'settle', callId, overdue });
      },
    },
  );
  closers.add(() => supervisor.close());
  supervisor.reportServices(await services.checkHealth());
  const looking = watchHealth(services, (health) => supervisor.reportServices(health));
  closers.add(() => looking.stop());

  const membership = createFleetMembership(store, {
    beat: () => ({
      workerId,
      pool,
      host: hostname(),
      pid: process.pid,
      release: RELEASE,
      startedAt,
      state: vitals.state === 'draining' ? 'draining' : 'serving',
      concurrency,
      running: inFlight.size,
      crashes,
      ...(hooks === undefined ? {} : { hooks: hooks.health() }),
      ...(services.health.length === 0 ? {} : { services: services.health }),
      ...(upstreams === undefined ? {} : { upstreams: upstreams.health() }),
    }),
    served: () => modules.served,
    ttlMs: FLEET_TTL_MS,
  });

  // Register before publishing: when a caller sees a tool, a worker that serves it is already known.
  await membership.announce();
  closers.add(() => membership.leave());
  await modules.publish(publication);
  const judgeModules = async (): Promise<void> => {
    if (place !== undefined) return;
    const published = (await store.readCatalog()).modules;
    const problems = findModuleProblems(modules.loaded, pool, published);
    if (problems.length > 0)
      log.error({ problems }, 'the worker is not ready: its modules are not what they should be');
    supervisor.setModuleProblems(problems);
  };
  await judgeModules();
  const consumer = consume(
    { workerId, pool, concurrency, leaseMs: settings.leaseMs },
    { store, age, plane, slots, nestedSlots, limiter, inFlight, vitals, log, onNestedWait: nested.onWait },
  );
  closers.add(async () => {
    await consumer.stop();
    await consumer.stopNested();
  });
  const callbacks = callbacksOf(plane, settings.leaseMs);
  closers.add(() => callbacks.stop());
  vitals.state = 'serving';
  const heartbeat = setInterval(() => {
    membership
      .announce()
      // Do not check while draining: this worker will soon serve nothing.
      .then(() => (vitals.state === 'serving' ? publication.check() : undefined))
      .catch((error: unknown) => log.warn({ error }, 'heartbeat not written'));
  }, FLEET_TTL_MS / 3);
  closers.add(async () => clearInterval(heartbeat));
  const reloaded = async (changes: ModuleChanges): Promise<void> => {
    await membership.announce();
    await judgeModules();
    if (parts.onReload === undefined) logChanges(changes, log);
    await parts.onReload?.(changes).catch((error: unknown) => log.warn({ error }, 'not all was done after a reload'));
  };
  /** On Redis the role of a worker may not write administrative records, so modules are removed from the catalog without one. */
  const withdraw = options.store === 'redis' ? undefined : withdrawDeleted(store, log);
  upstreams?.follow(() => modules.refresh(publication, { onChange: reloaded, withdraw }));
  const watch = options.watch === true ? await modules.watch(publication, { onChange: reloaded, withdraw }) : undefined;

  async function drain(): Promise<void> {
    vitals.state = 'draining';
    upstreams?.stopFollowing();
    // Stop the consumer first: what is delivered from now on goes to other workers.
    const stopped = consumer.stop();
    const callbacksStopped = callbacks.stop();
    await watch?.close();
    await membership.announce().catch(() => undefined);
    await stopped;
    await finishCalls(inFlight, { graceMs: settings.graceMs, afterAbortMs: AFTER_ABORT_MS, log });
    await consumer.stopNested();
    if (place !== undefined) {
      await endLeftCalls(place.pool, plane).catch((error: unknown) => log.warn({ error }, 'left calls not ended'));
    }
    await callbacksStopped;
    await webhook?.close(AFTER_ABORT_MS);
    if ((await hooks?.idle(AFTER_ABORT_MS)) === false) log.warn({}, 'hooks are still busy with calls that have ended');
    vitals.state = 'stopped';
    nested.close();
    await closers.closeAll();
  }

  const failed = Promise.race([consumer.halted, supervisor.failed]);
  failed.catch(() => undefined);
  let drained: Promise<void> | undefined;
  return {
    workerId,
    healthUrl: supervisor.healthUrl,
    found: modules.found,
    get loaded() {
      return modules.loaded;
    },
    get versions() {
      return publication.versions;
    },
    events: { subscribe: events.subscribe },
    serves: (tool) => drained === undefined && modules.serves(tool),
    drain: () => (drained ??= drain()),
    failed,
  };
}

function callbacksOf(plane: Plane, leaseMs: number): ApprovalCallbacks {
  const deadlineMs = plane.hooks?.deadlineMs('approval_resolved');
  return runApprovalCallbacks({ leaseMs: leaseMs + (deadlineMs ?? 0) }, plane);
}
