import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { killGroup } from './kill-group.ts';
import { processGuard } from './process-guard.ts';

export interface ProgramRequest {
  /** The program, then its arguments. No shell reads them. */
  readonly command: readonly string[];
  readonly cwd?: string;
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: empty. */
  readonly stdin?: string;
  readonly maxOutputBytes: number;
  /** How much of the error output is kept. Default: nothing. */
  readonly keptErrorBytes?: number;
  /** When it is aborted, the whole process group is killed. */
  readonly signal: AbortSignal;
}

export interface ExitedProgram {
  readonly kind: 'exited';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export type ProgramEnding =
  | ExitedProgram
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'printed-too-much' }
  | { readonly kind: 'stopped' };

/** How long to wait for output after the process has ended: a process that left the group may hold the pipes open. */
const LAST_OUTPUT_MS = 500;

/**
 * Runs a program in its own process group. The group is killed when the program ends, when it prints more than it may, when the request is
 * aborted, and when this process is killed. Never rejects.
 */
export async function runProgram(request: ProgramRequest): Promise<ProgramEnding> {
  if (request.signal.aborted) return { kind: 'stopped' };
  let child: ChildProcess;
  try {
    child = await start(request);
  } catch (error) {
    return { kind: 'not-started', code: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
  const guard = processGuard();
  guard.add(child.pid!);
  try {
    return await endOf(child, request);
  } finally {
    guard.remove(child.pid!);
  }
}

async function start({ command, cwd, env, stdin, keptErrorBytes = 0 }: ProgramRequest): Promise<ChildProcess> {
  const [program = '', ...programArguments] = command;
  const child = spawn(program, programArguments, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    // The child leads its own process group, so that one signal reaches everything it has started.
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', keptErrorBytes === 0 ? 'ignore' : 'pipe'],
  });
  if (child.pid !== undefined) return child;
  const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
  throw error;
}

function endOf(child: ChildProcess, request: ProgramRequest): Promise<ProgramEnding> {
  const { stdin = '', maxOutputBytes, keptErrorBytes = 0, signal } = request;
  const pid = child.pid!;
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  let [outputBytes, errorBytes] = [0, 0];
  return new Promise((resolve) => {
    let lastOutput: NodeJS.Timeout | undefined;
    const closeOutput = (): void => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const end = (ending: ProgramEnding): void => {
      signal.removeEventListener('abort', onAbort);
      resolve(ending);
    };
    const kill = (ending: ProgramEnding): void => {
      killGroup(pid);
      closeOutput();
      end(ending);
    };
    const onAbort = (): void => kill({ kind: 'stopped' });

    child.stdout?.on('data', (chunk: Buffer) => {
      outputBytes += chunk.byteLength;
      if (outputBytes <= maxOutputBytes) stdout.push(chunk);
      else kill({ kind: 'printed-too-much' });
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, keptErrorBytes - errorBytes);
      errorBytes += kept.byteLength;
      if (kept.byteLength > 0) stderr.push(kept);
    });
    child.once('exit', () => {
      // Kills the processes that the program left in the background. They would hold its output pipes open.
      killGroup(pid);
      lastOutput = setTimeout(closeOutput, LAST_OUTPUT_MS);
    });
    child.once('close', (exitCode, exitSignal) => {
      clearTimeout(lastOutput);
      const text = Buffer.concat(stderr).toString('utf8');
      end({ kind: 'exited', exitCode, signal: exitSignal, stdout: Buffer.concat(stdout), stderr: text });
    });
    // The program does not have to read its input, so a broken pipe is not an error.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
