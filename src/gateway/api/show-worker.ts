import type { WorkerEntry } from '../../domain/ports/fleet-registry.ts';
import type { WorkerView } from './worker-schema.ts';

/** A worker without the digests of its tools, of which there may be thousands. */
export function showWorker({
  toolDigests: _,
  hooks,
  services,
  upstreams,
  modules,
  broken,
  ...beat
}: WorkerEntry): WorkerView {
  return {
    ...beat,
    ...(hooks === undefined ? {} : { hooks: hooks.map((health) => ({ ...health })) }),
    ...(services === undefined ? {} : { services: services.map((health) => ({ ...health })) }),
    ...(upstreams === undefined ? {} : { upstreams: upstreams.map((health) => ({ ...health })) }),
    modules: [...modules],
    broken: [...broken],
  };
}
