import { spawn, type ChildProcessByStdio, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CappedOutput } from './capped-output.ts';

export interface Command {
  /** The program, then its arguments. The program gets them unchanged. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program. Nothing of the worker's environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export interface EndedCommand {
  readonly kind: 'ended';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

export type CommandEnding = EndedCommand | { readonly kind: 'not-started'; readonly code: string };

/** Max wait for output after the program has ended. A process that left the group may keep the outputs open. */
const LAST_OUTPUT_MS = 1000;

/** Runs a program, and everything it starts, in a process group that ends with it. Rejects only when aborted. */
export async function runCommand(command: Command, signal: AbortSignal): Promise<CommandEnding> {
  signal.throwIfAborted();
  // The guard is started first, so that the command runs without a guard for as short a time as possible.
  const guard = startGuard();
  const child = await start(command);
  if ('kind' in child) {
    guard.kill('SIGKILL');
    return child;
  }
  guard.stdin.write(`${child.pid}\n`);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, command.timeoutMs);
  const onAbort = (): void => killGroup(child.pid);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    const ended = await endingOf(child.process, child.pid, command);
    signal.throwIfAborted();
    return { kind: 'ended', ...ended, timedOut };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    guard.kill('SIGKILL');
  }
}

type Started = { readonly process: ChildProcessWithoutNullStreams; readonly pid: number };

async function start({ command, cwd, env }: Command): Promise<Started | { kind: 'not-started'; code: string }> {
  const [program = '', ...programArguments] = command;
  try {
    // Detached makes the program the leader of its own group, so that one signal reaches everything it has started.
    const child = spawn(program, programArguments, { cwd, env, detached: true, shell: false, stdio: 'pipe' });
    if (child.pid !== undefined) return { process: child, pid: child.pid };
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
    throw error;
  } catch (error) {
    return { kind: 'not-started', code: (error as NodeJS.ErrnoException).code ?? 'UNKNOWN' };
  }
}

function endingOf(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  { stdin, maxOutputBytes }: Command,
): Promise<Omit<EndedCommand, 'kind' | 'timedOut'>> {
  const stdout = new CappedOutput(maxOutputBytes);
  const stderr = new CappedOutput(maxOutputBytes);
  child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
  // A program does not have to read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((resolve) => {
    let lastOutput: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      // A process that was left in the background would otherwise outlive the call and hold its outputs open.
      killGroup(pid);
      lastOutput = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, LAST_OUTPUT_MS);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(lastOutput);
      const truncated = stdout.truncated || stderr.truncated;
      resolve({ exitCode, signal, stdout: stdout.text, stderr: stderr.text, truncated });
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

/**
 * Starts a guard process that kills the command's group if this process is killed: then the pipe to the guard closes. The guard gets only
 * a number, and no text from a caller.
 */
function startGuard(): ChildProcessByStdio<Writable, null, null> {
  const guard = spawn('/bin/sh', ['-c', 'read -r group || exit; read -r _; kill -s KILL -- "-$group"'], {
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  return guard;
}
