import type { StopSignal } from '../../../domain/ports/tool-runner.ts';
import { ToolProcess, type ToolProcessOptions } from './tool-process.ts';

export interface ProcessPoolOptions extends ToolProcessOptions {
  readonly maxProcesses: number;
  readonly runsPerProcess: number;
  readonly idleMs: number;
}

/** `single`: a new process, which ends after its run. */
export type ProcessUse = 'shared' | 'single';

/** What a process is used for during its whole life. */
interface Purpose {
  readonly key: string;
  readonly use: ProcessUse;
}

export interface ProcessPoolStats {
  readonly started: number;
  readonly live: number;
  readonly idle: number;
  readonly waiting: number;
}

export type TakenProcess =
  | { readonly kind: 'taken'; readonly process: ToolProcess }
  | { readonly kind: 'unstartable'; readonly problem: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'aborted' };

interface Waiter {
  readonly purpose: Purpose;
  readonly answer: (taken: TakenProcess) => void;
}

interface IdleProcess {
  readonly process: ToolProcess;
  readonly key: string;
  readonly timer: NodeJS.Timeout;
}

const WATCH_EVERY_MS = 100;

/**
 * The child processes of a runner. A process serves one key for its whole life. A run gets an idle process of its key, or a new one; while
 * all places are taken it waits in a queue.
 */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #purposes = new Map<ToolProcess, Purpose>();
  /** The most recently used process is at the end and is taken first, because it is the warmest. */
  #idle: IdleProcess[] = [];
  readonly #waiters: Waiter[] = [];
  #started = 0;
  /** Places lent by processes whose run waits for a nested call. */
  #lent = 0;
  #closed = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  get pids(): number[] {
    return [...this.#purposes.keys()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  get stats(): ProcessPoolStats {
    return {
      started: this.#started,
      live: this.#purposes.size,
      idle: this.#idle.length,
      waiting: this.#waiters.length,
    };
  }

  take(purpose: Purpose, signal: StopSignal, waitMs: number): Promise<TakenProcess> {
    if (signal.aborted || this.#closed) return Promise.resolve({ kind: 'aborted' });
    return new Promise((resolve) => {
      const answer = (taken: TakenProcess): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        const index = this.#waiters.indexOf(waiter);
        if (index >= 0) this.#waiters.splice(index, 1);
        resolve(taken);
      };
      const onAbort = (): void => answer({ kind: 'aborted' });
      const timer = setTimeout(() => answer({ kind: 'timed-out' }), waitMs);
      const waiter: Waiter = { purpose, answer };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  giveBack(process: ToolProcess): void {
    const purpose = this.#purposes.get(process);
    if (purpose === undefined) return;
    if (this.#closed || purpose.use === 'single' || this.#isUsedUp(process) || this.#purposes.size > this.#places) {
      void process.retire();
    } else {
      const timer = setTimeout(() => this.#dismiss(process), this.#options.idleMs).unref();
      this.#idle.push({ process, key: purpose.key, timer });
    }
    this.#serve();
  }

  /** While a run waits for a nested call, others may use its place. Otherwise, with all places taken, the nested call would never run. */
  lend(): () => void {
    this.#lent += 1;
    this.#serve();
    return () => void (this.#lent -= 1);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const waiter of this.#waiters.splice(0)) waiter.answer({ kind: 'aborted' });
    for (const { timer } of this.#idle) clearTimeout(timer);
    this.#idle = [];
    await Promise.all([...this.#purposes.keys()].map((process) => process.retire()));
  }

  get #places(): number {
    return this.#options.maxProcesses + this.#lent;
  }

  #serve(): void {
    for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
      const taken = this.#findOrStart(waiter.purpose);
      if (taken === undefined) return;
      waiter.answer(taken);
    }
  }

  #findOrStart(purpose: Purpose): TakenProcess | undefined {
    const { key, use } = purpose;
    const isFit = (idle: IdleProcess): boolean => idle.key === key && idle.process.alive && !idle.process.worn;
    const index = use === 'single' ? -1 : this.#idle.findLastIndex(isFit);
    const [found] = index < 0 ? [] : this.#idle.splice(index, 1);
    if (found !== undefined) {
      clearTimeout(found.timer);
      return { kind: 'taken', process: found.process };
    }
    if (this.#purposes.size < this.#places) return this.#start(purpose);
    // Ends the process that has been idle longest; its place is free when that process is gone.
    const oldest = this.#idle[0];
    if (oldest !== undefined) this.#dismiss(oldest.process);
    return undefined;
  }

  #start(purpose: Purpose): TakenProcess {
    try {
      const process = new ToolProcess(this.#options);
      this.#started += 1;
      this.#purposes.set(process, purpose);
      void process.gone.then(() => this.#forget(process));
      this.#watch ??= setInterval(() => this.#checkMemory(), WATCH_EVERY_MS).unref();
      return { kind: 'taken', process };
    } catch (error) {
      return {
        kind: 'unstartable',
        problem: `it could not be started: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`,
      };
    }
  }

  #dismiss(process: ToolProcess): void {
    this.#removeIdle(process);
    void process.retire();
  }

  #forget(process: ToolProcess): void {
    this.#removeIdle(process);
    this.#purposes.delete(process);
    if (this.#purposes.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    this.#serve();
  }

  #removeIdle(process: ToolProcess): void {
    const index = this.#idle.findIndex((idle) => idle.process === process);
    const [removed] = index < 0 ? [] : this.#idle.splice(index, 1);
    clearTimeout(removed?.timer);
  }

  #isUsedUp(process: ToolProcess): boolean {
    if (!process.alive || process.worn || process.runs >= this.#options.runsPerProcess) return true;
    // Replaced at half of its memory limit: otherwise the next call could be killed because of the memory that earlier calls took.
    return (process.residentBytes() ?? 0) > this.#options.maxResidentBytes / 2;
  }

  #checkMemory(): void {
    for (const process of this.#purposes.keys()) process.checkMemory();
  }
}
