import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { RunEnding, RunRequest, ToolRunner, ToolSource } from '../../../domain/ports/tool-runner.ts';
import type { LoadedCode } from './code-format.ts';
import { ProcessPool, type ProcessPoolStats, type ProcessUse } from './process-pool.ts';
import { runInProcess, type ProcessRunEnding } from './run-in-process.ts';

export interface ProcessRunnerOptions {
  /** Max processes. Keep it at or above the worker's concurrency: the timeout of a run includes its wait for a process. */
  readonly maxProcesses?: number;
  /** After this many runs a process is replaced, so that small leaks stay small. */
  readonly runsPerProcess?: number;
  /** Time between asking a tool to stop and killing its process. */
  readonly abortGraceMs?: number;
  readonly maxHeapMb?: number;
  /** Max resident memory of a process; checked every 100 ms where /proc exists. */
  readonly maxResidentBytes?: number;
  /** An unused process is ended after this time. */
  readonly idleMs?: number;
  /** The compiled entry file of the processes. */
  readonly childFile?: string;
  /**
   * Returns the content that the tool's files had when the worker loaded them. If the files have changed since, a new process gets that
   * content and runs it, so that a tool does not change before it is loaded again.
   */
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

/**
 * Runs tools in child processes, one call at a time in each: a crash, an exit, a blocked event loop or a leak affects only its own call.
 */
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

  /** Ids of the processes that are not gone yet. */
  get pids(): number[] {
    return this.#pool.pids;
  }

  get stats(): ProcessPoolStats {
    return this.#pool.stats;
  }

  run(request: RunRequest): Promise<RunEnding> {
    return this.#start(request, 'shared');
  }

  /**
   * Returns a runner that runs each call in a new process, which serves no other call. It shares this runner's pool, so `maxProcesses`
   * limits both together.
   */
  perCall(): ToolRunner {
    return { run: (request) => this.#start(request, 'single'), close: () => this.close() };
  }

  async #start(request: RunRequest, use: ProcessUse): Promise<RunEnding> {
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    // The signals are linked by hand, because AbortSignal.any could keep memory of every run for as long as the source signal exists.
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

  /** Ends the runs under way as `aborted`. Afterwards no process is left. */
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
    // An idle process can die at the moment it is chosen. No code of the tool has run, so another process may run it.
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

  /** Lends the run's place while it waits. A run has only one place to lend, however many nested calls it makes at once. */
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

/** Modules do not share processes: the code of one module could change global state that the code of the other one uses. */
function keyOf(source: ToolSource): string {
  return `${source.file}\0${source.generation}\0${source.module}`;
}

/** The child's file is next to this file when compiled, and in `dist` when the sources themselves run, as in the tests. */
function findChildFile(): string {
  const place = import.meta.url.endsWith('.ts')
    ? '../../../../dist/worker/runners/process/process-child.js'
    : './process-child.js';
  const file = fileURLToPath(new URL(place, import.meta.url));
  if (!existsSync(file)) throw new Error(`${file} is missing; build the package first: npm run build`);
  return file;
}

/** Loaded code, keyed by the absolute path of its file. */
type LoadedSources = ReadonlyMap<string, Uint8Array>;

/**
 * Returns the code as it was loaded, if one of its files has changed or is gone; a new process needs it instead of the files. Undefined:
 * the files can be read as they are.
 */
async function changedSources(loaded: LoadedSources | undefined): Promise<LoadedCode | undefined> {
  if (loaded === undefined) return undefined;
  const same = await Promise.all(
    [...loaded].map(async ([file, code]) => {
      const now = await readFile(file).catch(() => undefined);
      return now?.equals(code) === true;
    }),
  );
  return same.every(Boolean) ? undefined : Object.fromEntries(loaded);
}
