import { spawn, type ChildProcess } from 'node:child_process';

export interface ChildResult {
  /** `undefined` if the process was killed, e.g. by its time limit, or could not be started. */
  readonly code: number | undefined;
  readonly output: string;
}

const KEPT_CHARACTERS = 20_000;
const running = new Map<ChildProcess, Promise<void>>();
let stopped = false;

/** Runs a node program in its own process group. The whole group is killed when the time limit is over. */
export function runChild(args: readonly string[], options: { cwd: string; limitMs: number }): Promise<ChildResult> {
  return new Promise((resolve) => {
    // The run is being stopped. The promise stays pending, so that the caller does not continue.
    if (stopped) return;
    const { cwd, limitMs } = options;
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    running.set(child, new Promise((gone) => child.once('exit', () => gone()).once('error', () => gone())));
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-KEPT_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => endGroup(child), limitMs);
    const end = (code: number | undefined, text: string): void => {
      clearTimeout(timer);
      running.delete(child);
      if (!stopped) resolve({ code, output: text });
    };
    child.once('error', (error) => end(undefined, error.message));
    // 'exit', not 'close': a process that a failed test left behind may hold the pipes open.
    child.once('exit', (code) => {
      endGroup(child);
      end(code ?? undefined, output);
    });
  });
}

/** For a signal handler: kills all children, starts no more, and resolves when they are gone. */
export async function stopChildren(): Promise<void> {
  stopped = true;
  const gone = [...running.values()];
  for (const child of running.keys()) endGroup(child);
  await Promise.all(gone);
}

/** Kills only the process group that this program started. A process that has left the group is not touched. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is already empty.
  }
}
