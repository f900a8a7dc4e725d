import { join, resolve } from 'node:path';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { Upstreams, type UpstreamNeeds } from '../upstreams/upstreams.ts';
import type { WorkerOptions } from './worker-settings.ts';

/** The MCP servers of a worker; undefined when the configuration names none. A server of another pool belongs to other workers. */
export function createUpstreams(
  { upstreams = [] }: Pick<WorkerOptions, 'upstreams'>,
  needs: UpstreamNeeds,
): Upstreams | undefined {
  const own = upstreams.filter(({ pool }) => pool === undefined || pool === needs.pool);
  return own.length === 0 ? undefined : new Upstreams(own, needs);
}

/** Below it the programs among the servers have their home folders. */
export function upstreamsFolder(options: WorkerOptions): string {
  const ofStore = options.store === 'redis' ? DEFAULT_FOLDER : (options.folder ?? DEFAULT_FOLDER);
  return resolve(options.upstreamsFolder ?? join(ofStore, 'upstreams'));
}
