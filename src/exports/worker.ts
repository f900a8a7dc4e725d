export { servePinned, type PinnedOptions, type PinnedTools } from '../compose/serve-pinned.ts';
export { startWorker, type RunningWorker, type WorkerOptions } from '../compose/start-worker.ts';
export { PlaneError } from '../domain/errors/errors.ts';
export type { Log } from '../domain/ports/log.ts';
export type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../domain/events/diagnostic-event.ts';
export type { DiagnosticListener, DiagnosticSubscription, EventSource } from '../domain/ports/events.ts';
