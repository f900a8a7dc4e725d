export { servePinned, type PinnedOptions, type PinnedTools } from '../compose/serve-pinned.ts';
export { startWorker, type RunningWorker, type WorkerOptions } from '../compose/start-worker.ts';
export { PlaneError } from '../domain/errors.ts';
export type { Log } from '../ports/log.ts';
