import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RunEnding, RunRequest, ToolRunner, ToolSource } from '../../ports/tool-runner.ts';
import { changedSources, type LoadedSources } from './changed-sources.ts';
import { ProcessPool, type ProcessPoolStats, type ProcessUse } from './process-pool.ts';
import { runInProcess, type ProcessRunEnding } from './run-in-process.ts';

export interface ProcessRunnerOptions {
  /** Keep it at or above the worker's concurrency: a run that waits for a process uses up its own time. */
  readonly maxProcesses?: number;
  /** Then a process is replaced, so that small leaks stay small. */
  readonly runsPerProcess?: number;
  /** Between asking a tool to stop and killing its process. */
  readonly abortGraceMs?: number;
  readonly maxHeapMb?: number;
  /** Resident memory of the process; watched each 100 ms where /proc exists. */
  readonly maxResidentBytes?: number;
  /** An unused process is ended after so long. */
  readonly idleMs?: number;
  /** The compiled entry file of the processes. */
  readonly childFile?: string;
  /** The code a tool was loaded with. A new process gets it when the files have changed since, so that what was shown is what runs. */
  readonly sourcesOf?: (source: ToolSource) => LoadedSources | undefined;
}

const DEFAULTS = {
  maxProcesses: 16,
  runsPerProcess: 200,
  abortGraceMs: 2000,
  maxHeapMb: 256,
  maxResidentBytes: 512 * 1024 * 1024,
  idleMs: 60_000,
};

/** Runs tools in child processes, one call at a time in each: a crash, an exit, a blocked loop or a leak hurts only its call. */
export class ProcessRunner implements ToolRunner {
  readonly #pool: ProcessPool;
  readonly #abortGraceMs: number;
  readonly #sourcesOf: NonNullable<ProcessRunnerOptions['sourcesOf']>;
  readonly #running = new Map<AbortController, Promise<RunEnding>>();
  #closed = false;
  #runs = 0;

  constructor(options: ProcessRunnerOptions = {}) {
    const settings = { ...DEFAULTS, ...options, childFile: options.childFile ?? findChildFile() };
    this.#pool = new ProcessPool(settings);
    this.#abortGraceMs = settings.abortGraceMs;
    this.#sourcesOf = options.sourcesOf ?? (() => undefined);
  }

  /** Processes that are not gone yet. */
  get pids(): number[] {
    return this.#pool.pids;
  }

  get stats(): ProcessPoolStats {
    return this.#pool.stats;
  }

  run(request: RunRequest): Promise<RunEnding> {
    return this.#start(request, 'shared');
  }

  /** Runs each call in a new process that serves no other one. It has no processes of its own: the bound holds for both together. */
  perCall(): ToolRunner {
    return { run: (request) => this.#start(request, 'single'), close: () => this.close() };
  }

  async #start(request: RunRequest, use: ProcessUse): Promise<RunEnding> {
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    // Linked by hand: AbortSignal.any keeps a trace of every run in Node 20.
    request.signal.addEventListener('abort', onAbort, { once: true });
    if (request.signal.aborted || this.#closed) onAbort();
    const running = this.#run({ ...request, signal: controller.signal }, use);
    this.#running.set(controller, running);
    try {
      return await running;
    } catch (error) {
      return { kind: 'crashed', how: `the runner failed: ${error instanceof Error ? error.message : 'unknown'}` };
    } finally {
      this.#running.delete(controller);
      request.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Runs still under way end `aborted`. Afterwards no process is left. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const controller of this.#running.keys()) controller.abort();
    await Promise.allSettled(this.#running.values());
    await this.#pool.close();
  }

  async #run(request: RunRequest, use: ProcessUse): Promise<RunEnding> {
    const endsAt = performance.now() + request.timeoutMs;
    const first = await this.#tryOnce(request, endsAt, use);
    if (first.kind !== 'never-entered') return first;
    // An idle process can die just when it is chosen. Nothing of the tool has run, so another process may.
    const second = await this.#tryOnce(request, endsAt, use);
    return second.kind === 'never-entered' ? { kind: 'crashed', how: second.how } : second;
  }

  async #tryOnce(request: RunRequest, endsAt: number, use: ProcessUse): Promise<ProcessRunEnding> {
    const waitMs = Math.max(0, endsAt - performance.now());
    const lease = await this.#pool.take({ key: keyOf(request.source), use }, request.signal, waitMs);
    if (lease.kind === 'unstartable') return { kind: 'never-entered', how: lease.problem };
    if (lease.kind !== 'taken') return lease;
    try {
      this.#runs += 1;
      const run = this.#runs;
      const isNew = lease.process.runs === 0;
      const code = isNew ? await changedSources(this.#sourcesOf(request.source)) : undefined;
      const timeoutMs = Math.max(1, Math.round(endsAt - performance.now()));
      const lending = { ...request, onNestedCall: this.#lendWhile(request.onNestedCall) };
      const order = { request: lending, run, timeoutMs, abortGraceMs: this.#abortGraceMs, code };
      return await runInProcess(lease.process, order);
    } finally {
      this.#pool.giveBack(lease.process);
    }
  }

  /** However many calls a run makes at once, it has one place to lend. */
  #lendWhile(call: RunRequest['onNestedCall']): RunRequest['onNestedCall'] {
    let waiting = 0;
    let takeBack = (): void => undefined;
    return async (...given) => {
      waiting += 1;
      if (waiting === 1) takeBack = this.#pool.lend();
      try {
        return await call(...given);
      } finally {
        waiting -= 1;
        if (waiting === 0) takeBack();
      }
    };
  }
}

/** Modules do not share processes: one of them could change what the next one finds there. */
function keyOf(source: ToolSource): string {
  return `${source.file}\0${source.generation}\0${source.module}`;
}

/** Beside this file when compiled; in `dist` when the sources themselves are run, as the tests do. */
function findChildFile(): string {
  const place = import.meta.url.endsWith('.ts')
    ? '../../../dist/runners/process/process-child.js'
    : './process-child.js';
  const file = fileURLToPath(new URL(place, import.meta.url));
  if (!existsSync(file)) throw new Error(`${file} is missing; build the package first: npm run build`);
  return file;
}
