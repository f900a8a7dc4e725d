import { spawn, type ChildProcess } from 'node:child_process';

export interface ChildResult {
  /** `undefined` when it was ended by its time limit or by `stopChildren`. */
  readonly code: number | undefined;
  readonly output: string;
}

const KEPT_CHARACTERS = 20_000;
const running = new Set<ChildProcess>();

/** Runs a node program in a process group of its own, which is ended as a whole when the time is up. */
export function runChild(args: readonly string[], options: { cwd: string; limitMs: number }): Promise<ChildResult> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    running.add(child);
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-KEPT_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => {
      endGroup(child);
    }, options.limitMs);
    const end = (code: number | undefined, text: string): void => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, output: text });
    };
    child.once('error', (error) => {
      end(undefined, error.message);
    });
    // 'exit', not 'close': a process that a failed test left behind may hold the pipes open.
    child.once('exit', (code) => {
      endGroup(child);
      end(code ?? undefined, output);
    });
  });
}

/** Ends all children at once, for a signal. */
export function stopChildren(): void {
  for (const child of running) endGroup(child);
}

/** Only the group that this program has started; whoever has left it is not touched. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
