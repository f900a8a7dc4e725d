import { spawn, type ChildProcess, type Serializable } from 'node:child_process';
import { reapAfterExit } from './reaper.ts';

/**
 * How long a test waits for something that must happen: an event, a line, a page. It makes no statement about speed: what takes 100 ms
 * on an idle machine may take a minute on a very busy one. It only ends a test that hangs, before vitest does, with a message that
 * names what was missing.
 */
export const PATIENCE_MS = 120_000;

interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface WatchedProcess {
  readonly pid: number;
  /** All text printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Set once the process has ended. */
  readonly exit: ProcessExit | undefined;
  readonly exited: Promise<ProcessExit>;
  /** Resolves with the first matching line of either stream, printed before or after this call; rejects if the process ends first. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** Sends a signal by pid and returns at once; await `exited` for the end. */
  kill(signal?: NodeJS.Signals): void;
  /**
   * Sends SIGCONT and SIGTERM, then SIGKILL after `graceMs`; use 0 where the way it ends is not tested. Safe to call when the process
   * is already gone.
   */
  stop(graceMs?: number): Promise<ProcessExit>;
  /** Works only with `ipc`. */
  send(message: Serializable): void;
  onMessage(listener: (message: unknown) => void): void;
}

export interface StartOptions {
  /** Added to this process's environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly ipc?: boolean;
  readonly cwd?: string;
  /** Runs the program as another user; only root can do this. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Part of the error message when the program is not on PATH. */
  readonly installHint?: string;
}

/** Starts a program that is killed with this test process. Resolves when the system has started it, not when it is ready. */
export async function startProgram(
  program: string,
  args: readonly string[],
  options: StartOptions = {},
): Promise<WatchedProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...options.user,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missingProgram(program, options.installHint) : error);
    });
  });
  return watch(child, [program, ...args].join(' '));
}

function missingProgram(program: string, installHint: string | undefined): Error {
  return new Error(`The program "${program}" is not on PATH.${installHint === undefined ? '' : ` ${installHint}`}`);
}

function watch(child: ChildProcess, what: string): WatchedProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error(`No pid for ${what}`);
  const release = reapAfterExit({ pid, what });
  const text = { stdout: '', stderr: '' };
  const lineWatchers = new Set<() => void>();
  let exit: ProcessExit | undefined;

  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      for (const look of lineWatchers) look();
    });
  }
  const exited = new Promise<ProcessExit>((resolve) => {
    const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
      if (exit !== undefined) return;
      exit = { code, signal };
      resolve(exit);
      for (const look of lineWatchers) look();
    };
    // 'close' is emitted when the last lines have been read. It may not be emitted: a grandchild that outlives the process holds the
    // same pipes. So after 'exit' it gets only a moment.
    child.once('close', finish);
    child.once('exit', (code, signal) => {
      release();
      setTimeout(() => finish(code, signal), 250).unref();
    });
  });

  const describe = (): string =>
    `${what}\n--- stdout\n${text.stdout.slice(-4000)}\n--- stderr\n${text.stderr.slice(-4000)}`;

  const kill = (signal: NodeJS.Signals = 'SIGKILL'): void => {
    // Never signal a pid that has been reaped: the system may have given it to another process.
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
  };

  return {
    pid,
    exited,
    kill,
    get stdout() {
      return text.stdout;
    },
    get stderr() {
      return text.stderr;
    },
    get exit() {
      return exit;
    },
    waitForLine: (pattern, timeoutMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer);
          lineWatchers.delete(look);
          act();
        };
        const look = (): void => {
          const line = findLine(text.stdout, pattern) ?? findLine(text.stderr, pattern);
          if (line !== undefined) finish(() => resolve(line));
          else if (exit !== undefined)
            finish(() => reject(new Error(`Ended (${JSON.stringify(exit)}) before ${pattern}: ${describe()}`)));
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`No line ${pattern} within ${timeoutMs} ms: ${describe()}`))),
          timeoutMs,
        );
        lineWatchers.add(look);
        look();
      }),
    stop: async (graceMs = PATIENCE_MS) => {
      kill('SIGCONT');
      kill('SIGTERM');
      const timer = setTimeout(() => kill('SIGKILL'), graceMs);
      try {
        return await exited;
      } finally {
        clearTimeout(timer);
      }
    },
    send: (message) => void child.send(message),
    onMessage: (listener) => void child.on('message', listener),
  };
}

/** Searches whole lines only, so that a pattern never matches half a number. */
function findLine(text: string, pattern: RegExp): string | undefined {
  const lines = text.split('\n');
  lines.pop();
  return lines.find((line) => line.search(pattern) !== -1);
}
