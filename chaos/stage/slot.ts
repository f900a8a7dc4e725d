import { spawnNode } from '../../test/support/process.ts';
import type { WatchedProcess } from '../../test/support/watched-process.ts';
import { monotonicMs } from '../workload/monotonic.ts';

export type SlotRole = 'owner' | 'worker' | 'caller' | 'operator';

/** One process of a slot, from its start to its end. */
export interface SlotLife {
  readonly pid: number;
  readonly slot: string;
  readonly exit: string;
  readonly said: string;
  /** Time from the start of the process until it was ready; 0 if it never was. */
  readonly bootMs: number;
  readonly endedAtMs: number;
}

/** A place for one process. A process that was killed is started again. */
export interface Slot {
  readonly name: string;
  readonly role: SlotRole;
  /** Pid of the current process; undefined while there is none. */
  readonly pid: number | undefined;
  readonly isReady: boolean;
  readonly isStopped: boolean;
  /** The processes of this slot that have ended. */
  readonly lives: readonly SlotLife[];
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the current process has ended, with its exit code or the name of the signal. */
  ended(): Promise<string>;
  /** Ends the process; no other is started in this slot. */
  retire(signal: NodeJS.Signals, withinMs: number): Promise<string>;
  /** Resolves when a process ended by itself with exit code 0 and needs no successor. */
  readonly finished: Promise<void>;
}

const READY_WITHIN_MS = 90_000;
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGKILL'];
const AGAIN_MS = 100;

export interface SlotOptions {
  readonly name: string;
  readonly role: SlotRole;
  readonly script: string;
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called with a description when a process ends unexpectedly or does not become ready. */
  readonly onError: (what: string) => void;
  /** Called when the process becomes ready or stops being ready. */
  readonly onChange: () => void;
}

export function createSlot(options: SlotOptions): Slot {
  const { name, role } = options;
  const lives: SlotLife[] = [];
  let startedAtMs = 0;
  let bootMs = 0;
  let child: WatchedProcess | undefined;
  let ready = false;
  let stopped = false;
  let retired = false;
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));

  async function start(): Promise<void> {
    const [first, ...rest] = [...options.execArgv, options.script];
    const started = await spawnNode(first!, rest, { env: options.env });
    child = started;
    startedAtMs = monotonicMs();
    stopped = false;
    void started.exited.then(({ code, signal }) => onExit(started, signal ?? String(code)));
    await started.waitForLine(/^ready/, READY_WITHIN_MS).then(
      () => {
        ready = child === started;
        bootMs = monotonicMs() - startedAtMs;
        options.onChange();
      },
      (error: unknown) => {
        if (started.exit === undefined) options.onError(`${name} is not ready: ${String(error).slice(0, 800)}`);
        started.kill('SIGKILL');
      },
    );
  }

  function onExit(gone: WatchedProcess, exit: string): void {
    lives.push({
      pid: gone.pid,
      slot: name,
      exit,
      said: gone.stdout.slice(-400) + gone.stderr.slice(-2000),
      bootMs,
      endedAtMs: monotonicMs(),
    });
    bootMs = 0;
    if (child === gone) {
      child = undefined;
      ready = false;
      options.onChange();
    }
    const isDone = exit === '0' && gone.stdout.includes('done');
    if (isDone) return finish();
    if (exit !== 'SIGKILL' && exit !== '0') options.onError(`${name} ended with ${exit}: ${lives.at(-1)!.said}`);
    if (!retired) setTimeout(() => void (retired ? undefined : start()), AGAIN_MS);
  }

  return {
    name,
    role,
    lives,
    start,
    finished,
    get pid() {
      return child?.pid;
    },
    get isReady() {
      return ready && !stopped;
    },
    get isStopped() {
      return stopped;
    },
    signal(signal) {
      if (signal === 'SIGSTOP') stopped = true;
      if (signal === 'SIGCONT') stopped = false;
      // The process is ending, so no other fault should hit it.
      if (ENDING.includes(signal)) ready = false;
      child?.kill(signal);
      options.onChange();
    },
    async ended() {
      const exit = await child?.exited;
      return exit === undefined ? 'none' : (exit.signal ?? String(exit.code));
    },
    async retire(signal, withinMs) {
      retired = true;
      const dying = child;
      if (dying === undefined) return 'none';
      dying.kill('SIGCONT');
      dying.kill(signal);
      const timer = setTimeout(() => dying.kill('SIGKILL'), withinMs);
      const exit = await dying.exited;
      clearTimeout(timer);
      return exit.signal ?? String(exit.code);
    },
  };
}
