import type { ServiceHealth } from '../domain/tool/service.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import type { Check } from './check.ts';

/** Reports the health of all services of the fleet. Empty when there are none. */
export function inspectServices(workers: readonly Pick<WorkerEntry, 'workerId' | 'services'>[]): Check[] {
  const all = workers.flatMap(({ workerId, services = [] }) => services.map((health) => ({ workerId, ...health })));
  if (all.length === 0) return [];
  const names = [...new Set(all.map(({ service }) => service))].sort();
  const summary: Check = { name: 'services', state: 'ok', found: names.join(', ') };
  const troubles = all.flatMap(({ workerId, ...health }): Check[] => {
    const found = describeServiceProblem(health);
    const state = health.state === 'failed' ? 'bad' : 'warn';
    const fix = "Look for the service in the worker's log.";
    return found === undefined ? [] : [{ name: 'service', state, found: `worker ${workerId}: ${found}`, fix }];
  });
  return [summary, ...troubles];
}

/** Describes the problem of a service in one sentence for an operator; undefined when the service is healthy. */
export function describeServiceProblem({ service, state, detail }: ServiceHealth): string | undefined {
  if (state === 'ok') return undefined;
  const how = state === 'failed' ? 'has failed' : 'is degraded';
  return `the service ${service} ${how}${detail === undefined ? '' : `: ${detail}`}`;
}
