import { countNoun } from '../base/count-noun.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import type { QueueReader } from '../domain/ports/call-store.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { FleetReader } from '../domain/ports/fleet-registry.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import type { ServiceHealth } from '../domain/tool/service.ts';
import { servingOf, type ServingWorker } from '../domain/tool/serving.ts';
import type { Check } from './check.ts';
import { inspectHooks } from './inspect-hooks.ts';

/** Reports the live workers with their modules, hooks and services, the queues, and the published tools. */
export async function inspectFleet(store: FleetReader & QueueReader & CatalogReader): Promise<Check[]> {
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
    ...inspectUpstreams(workers),
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

type Published = Pick<ModuleDeclaration, 'id' | 'digest' | 'version' | 'pool' | 'tools'>;
type Worker = Pick<ServingWorker, 'pool' | 'state' | 'modules'>;

const NAMED = 5;

/**
 * Reports published tools that no live worker serves. A module without any worker is a ghost: agents see its tools, but their calls are
 * refused, or wait until their deadlines if the pool has no worker at all. If workers serve only other versions of a module, its callers
 * wait for the published one.
 * @internal
 */
export function inspectServed(published: readonly Published[], workers: readonly Worker[]): Check[] {
  const ghosts = published.filter((module) => servingOf(module, workers).state === 'unserved');
  const behind = published.filter((module) => servingOf(module, workers).state === 'other-version');
  const checks: Check[] = [];
  if (ghosts.length > 0) {
    const tools = ghosts.flatMap((module) => module.tools.map(({ id }) => id));
    checks.push({
      name: 'ghost tools',
      // Without any worker, the check `workers` already reports the cause, so this is only a warning.
      state: workers.length === 0 ? 'warn' : 'bad',
      found: `published, but no live worker serves them: ${some(tools)}`,
      fix: `Start a worker that serves ${some(ghosts.map(({ id, pool }) => `${id} (pool ${pool})`))}; or take them out: sallyport catalog withdraw --unserved`,
    });
  }
  if (behind.length > 0) {
    checks.push({
      name: 'versions',
      state: 'bad',
      found: `the published version is served by no live worker: ${some(behind.map(({ id, version }) => `${id} ${version}`))}`,
      fix: 'Finish the deployment: restart the workers that still have another version',
    });
  }
  return checks;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}

/** Reports the health of all services of the fleet. Empty when there are none. */
function inspectServices(workers: readonly Pick<WorkerEntry, 'workerId' | 'services'>[]): Check[] {
  const all = workers.flatMap(({ workerId, services = [] }) => services.map((health) => ({ workerId, ...health })));
  if (all.length === 0) return [];
  const names = [...new Set(all.map(({ service }) => service))].sort();
  const summary: Check = { name: 'services', state: 'ok', found: names.join(', ') };
  const problems = all.flatMap(({ workerId, ...health }): Check[] => {
    const found = describeServiceProblem(health);
    const state = health.state === 'failed' ? 'bad' : 'warn';
    const fix = "Look for the service in the worker's log.";
    return found === undefined ? [] : [{ name: 'service', state, found: `worker ${workerId}: ${found}`, fix }];
  });
  return [summary, ...problems];
}

/** Reports the MCP servers of the fleet. Empty when there are none. */
function inspectUpstreams(workers: readonly Pick<WorkerEntry, 'workerId' | 'upstreams'>[]): Check[] {
  const all = workers.flatMap(({ workerId, upstreams = [] }) => upstreams.map((health) => ({ workerId, ...health })));
  if (all.length === 0) return [];
  const names = [...new Set(all.map(({ upstream }) => upstream))].sort();
  const problems = all.flatMap(({ workerId, upstream, problem, quarantined, waiting }): Check[] => {
    const show = `sallyport upstreams show ${upstream}`;
    if (problem !== undefined) {
      const found = `worker ${workerId} cannot use ${upstream}: ${problem}`;
      return [{ name: 'MCP server', state: 'bad', found, fix: `sallyport upstreams test ${upstream}` }];
    }
    if (quarantined.length > 0) {
      const found = `${upstream} changed ${some(quarantined)} since it was accepted; their calls are refused`;
      return [{ name: 'MCP server', state: 'bad', found, fix: show }];
    }
    const found = `${upstream} offers ${countNoun(waiting, 'definition')} that no operator has accepted`;
    return waiting === 0 ? [] : [{ name: 'MCP server', state: 'warn', found, fix: show }];
  });
  return [{ name: 'MCP servers', state: 'ok', found: names.join(', ') }, ...problems];
}

/** Describes the problem of a service in one sentence for an operator; undefined when the service is healthy. */
export function describeServiceProblem({ service, state, detail }: ServiceHealth): string | undefined {
  if (state === 'ok') return undefined;
  const how = state === 'failed' ? 'has failed' : 'is degraded';
  return `the service ${service} ${how}${detail === undefined ? '' : `: ${detail}`}`;
}
