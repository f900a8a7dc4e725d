export { servePinned, type PinnedOptions, type PinnedTools } from '../compose/serve-pinned.ts';
export { startWorker, type RunningWorker, type WorkerOptions } from '../compose/start-worker.ts';
export { PlaneError } from '../domain/errors.ts';
export type { Log } from '../ports/log.ts';
export type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../domain/diagnostic-event.ts';
export type { DiagnosticListener, DiagnosticSubscription, EventSource } from '../ports/events.ts';
