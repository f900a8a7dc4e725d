import type { Worker } from '../fleet/fleet-types.ts';

/** Published modules that no worker in the state `serving` has. Their tools are in the catalog, but calls of them are not run. */
export function findUnserved(modules: readonly { readonly id: string }[], workers: readonly Worker[]): string[] {
  const served = new Set(
    workers.filter(({ state }) => state === 'serving').flatMap((worker) => worker.modules.map(({ id }) => id)),
  );
  return modules.map(({ id }) => id).filter((id) => !served.has(id));
}
