import { existsSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { countNoun } from '../base/count-noun.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { Store } from '../domain/ports/store.ts';
import { readPlaneAddress, storeFile } from '../stores/embedded/ownership.ts';
import { refuseLostStore } from '../stores/embedded/store-traces.ts';
import { auditOptionsOf } from './audit-options.ts';
import { inspectApprovals } from './inspect-approvals.ts';
import { inspectAudit } from './inspect-audit.ts';
import { inspectDisk, inspectLaneUse, inspectPart } from './inspect-capacity.ts';
import { inspectHooks } from './inspect-hooks.ts';
import { inspectRedis } from './inspect-redis.ts';
import { inspectServed } from './inspect-served.ts';
import { inspectServices } from './inspect-services.ts';
import { inspectAgents } from './inspect-agents.ts';
import { inspectRules } from './inspect-rules.ts';
import type { Check } from './check.ts';
import { openStore, type StoreOptions } from './open-store.ts';

/** Runs all checks that an operator should read, in the order to read them. Never creates a store. */
export async function inspectPlane(config: Config, options: StoreOptions | undefined): Promise<Check[]> {
  if (options?.store === 'redis') {
    const { checks, usable, mayReadQuestions } = await inspectRedis(options.redis);
    return usable ? [...checks, ...(await inspectStore(options, config, mayReadQuestions))] : checks;
  }
  const file = storeFile(config.folder);
  const lost = findLost(config.folder);
  if (lost !== undefined) return [lost];
  if (options === undefined || !existsSync(file)) {
    return [{ name: 'store', state: 'bad', found: `${file} does not exist`, fix: 'sallyport dev --modules PATH' }];
  }
  const owner = readPlaneAddress(config.folder);
  const checks = await inspectStore(options, config, true);
  return [
    { name: 'durability', state: 'ok', found: 'embedded: kill -9 of any process and power loss lose nothing' },
    {
      name: 'owner',
      state: 'ok',
      found: owner === undefined ? 'nobody: the file is free' : `process ${owner.pid}, ${owner.socket}`,
    },
    inspectDisk(config.folder),
    ...checks,
  ];
}

function findLost(folder: string): Check | undefined {
  try {
    refuseLostStore(folder);
    return undefined;
  } catch (error) {
    return describeProblem(error);
  }
}

function describeProblem(error: unknown): Check {
  if (!(error instanceof PlaneError)) throw error;
  const fix = error.fix === undefined ? {} : { fix: error.fix };
  return { name: 'store', state: 'bad', found: error.message, ...fix };
}

/** Runs the checks that need an open store. `mayReadQuestions`: this user may read the questions to people, and not only their number. */
async function inspectStore(options: StoreOptions, config: Config, mayReadQuestions: boolean): Promise<Check[]> {
  let store: Store;
  try {
    store = await openStore(options);
  } catch (error) {
    return [describeProblem(error)];
  }
  try {
    return [
      ...(await inspectPart('store', () => inspectIncarnation(store))),
      ...(await inspectPart('policy', () => inspectPolicy(store))),
      ...(await inspectPart('workers', () => inspectFleet(store))),
      ...(await inspectPart('retained bytes', async () => inspectLaneUse(await store.laneUse(), config.admission))),
      ...(await inspectPart('approvals', () =>
        inspectApprovals(store, {
          isWebhookSet: config.approvals.webhook.url !== undefined,
          mayRead: mayReadQuestions,
        }),
      )),
      ...(await inspectPart('audit', () =>
        inspectAudit(store, config.audit.sink !== undefined, auditOptionsOf(config).keys),
      )),
    ];
  } finally {
    await store.close();
  }
}

async function inspectIncarnation(store: Store): Promise<Check[]> {
  await store.checkIncarnation();
  const lanes = `${store.lanes} ${store.lanes === 1 ? 'lane' : 'lanes'}`;
  return [{ name: 'store', state: 'ok', found: `reachable, ${lanes}, not replaced` }];
}

async function inspectPolicy(store: Store): Promise<Check[]> {
  const { version, policy } = await store.readPolicy();
  const check: Check =
    version === 0
      ? { name: 'policy', state: 'warn', found: 'none: every tool is closed', fix: 'sallyport policy set FILE' }
      : { name: 'policy', state: 'ok', found: `version ${version}` };
  return [check, ...(await inspectPart('rules', () => inspectPolicyRules(store, policy)))];
}

async function inspectPolicyRules(store: Store, policy: Policy): Promise<Check[]> {
  const broken = (await store.listWorkers()).flatMap((worker) => worker.broken.map(({ id }) => id));
  const catalog = await store.readCatalog();
  return [...inspectRules(policy, catalog, broken), ...inspectAgents(policy, catalog)];
}

async function inspectFleet(store: Store): Promise<Check[]> {
  const workers = await store.listWorkers();
  const states = await store.queueState({ backlog: true });
  const { modules } = await store.readCatalog();
  const tools = modules.reduce((count, module) => count + module.tools.length, 0);
  const [queued, leased] = [sum(states.map((state) => state.queued)), sum(states.map((state) => state.leased))];
  const behind = sum(states.map((state) => state.backlog ?? 0));
  const turns = behind === 0 ? '' : `, ${behind} behind earlier calls of their subject`;
  const pools = new Set(workers.map(({ pool }) => pool));
  const stranded = states.filter((state) => state.queued > 0 && !pools.has(state.pool)).map(({ pool }) => pool);
  const broken = workers.flatMap(({ workerId, broken: list }) => list.map((module) => ({ workerId, ...module })));
  return [
    workers.length === 0
      ? {
          name: 'workers',
          state: 'warn',
          found: 'none is alive',
          fix: 'sallyport worker --modules PATH, or sallyport dev --modules PATH',
        }
      : { name: 'workers', state: 'ok', found: `${workers.length} alive in ${[...pools].sort().join(', ')}` },
    stranded.length === 0
      ? { name: 'queue', state: 'ok', found: `${queued} waiting${turns}, ${leased} with workers` }
      : {
          name: 'queue',
          state: 'bad',
          found: `${queued} waiting${turns}; nobody serves pool ${[...new Set(stranded)].join(', ')}`,
          fix: `sallyport worker --pool ${stranded[0]!} --modules PATH`,
        },
    {
      name: 'catalog',
      state: tools === 0 ? 'warn' : 'ok',
      found: `${countNoun(tools, 'tool')} of ${countNoun(modules.length, 'module')} published`,
    },
    ...inspectServed(modules, workers),
    ...inspectHooks(workers),
    ...inspectServices(workers),
    ...broken.map(({ workerId, id, reason }): Check => ({
      name: 'module',
      state: 'bad',
      found: `${id} is not loaded by worker ${workerId}: ${reason}`,
      fix: 'Correct the module; a worker that watches loads it again.',
    })),
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
