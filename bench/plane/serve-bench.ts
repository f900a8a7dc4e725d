import { fileURLToPath } from 'node:url';
import type { DiagnosticEvent, EventKind, RunningWorker, startWorker, WorkerOptions } from 'sallyport';

const MODULES = fileURLToPath(new URL('../round-trip/modules', import.meta.url));
const ATTEMPTS = 3;
/** Drops log lines below `error`, because every question to a person would log one. */
const QUIET = { debug: noop, info: noop, warn: noop, error: console.error };
function noop(): void {}

/** Starts a worker with the tools of the bench. On a busy machine the first start may be too slow to import them, so it is retried. */
export async function serveBench(
  start: typeof startWorker,
  options: Omit<WorkerOptions, 'modules'>,
): Promise<RunningWorker> {
  for (let attempt = 1; ; attempt += 1) {
    const worker = await start({ ...options, modules: MODULES, health: false, log: QUIET } as WorkerOptions);
    const [broken] = worker.loaded.broken;
    if (broken === undefined) return worker;
    await worker.drain();
    if (attempt === ATTEMPTS) throw new Error(`the module of the bench is not served: ${broken.reason}`);
  }
}

export interface EventCount {
  readonly hear: (event: DiagnosticEvent) => void;
  readonly count: () => number;
}

/** Counts events. They cost little, while polling the store for its progress would be part of the measurement. */
export function countEvents(kind: EventKind): EventCount {
  let heard = 0;
  return {
    hear(event) {
      if (event.kind === kind) heard += 1;
    },
    count: () => heard,
  };
}
