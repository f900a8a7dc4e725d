import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { HookError } from './call-hook.ts';

export interface ProcessRequest {
  /** The program, then its arguments. No shell reads them. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** When it is aborted, the whole process group is killed. */
  readonly signal: AbortSignal;
}

export interface EndedProcess {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  /** The first 4096 bytes of the error output. */
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 4096;
/** How long to wait for output after the process has ended: a process that left the group may hold the pipes open. */
const LAST_OUTPUT_MS = 500;

/**
 * Runs a program in its own process group, which is killed when the program ends. Rejects if it cannot be started, prints more than
 * `MAX_OUTPUT_BYTES`, or was aborted.
 */
export async function runProcess(request: ProcessRequest): Promise<EndedProcess> {
  request.signal.throwIfAborted();
  const child = await start(request);
  const { pid } = child;
  processGuard().add(pid!);
  const onAbort = (): void => killGroup(pid!);
  request.signal.addEventListener('abort', onAbort);
  if (request.signal.aborted) onAbort();
  try {
    const ended = await endOf(child, request.stdin);
    request.signal.throwIfAborted();
    return ended;
  } finally {
    request.signal.removeEventListener('abort', onAbort);
    processGuard().remove(pid!);
  }
}

async function start({ command, cwd, env }: ProcessRequest): Promise<ChildProcessWithoutNullStreams> {
  const [program = '', ...programArguments] = command;
  try {
    // Detached: the child leads its own process group, so that one signal reaches everything it has started.
    const child = spawn(program, programArguments, { cwd, env, detached: true, shell: false, stdio: 'pipe' });
    if (child.pid !== undefined) return child;
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
    throw error;
  } catch (error) {
    throw new HookError(
      'not-started',
      `it could not be started (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
}

function endOf(child: ChildProcessWithoutNullStreams, stdin: string): Promise<EndedProcess> {
  const pid = child.pid!;
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  let [outputBytes, errorBytes] = [0, 0];
  child.stdout.on('data', (chunk: Buffer) => {
    outputBytes += chunk.byteLength;
    if (outputBytes <= MAX_OUTPUT_BYTES) stdout.push(chunk);
    else killGroup(pid);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, MAX_ERROR_BYTES - errorBytes);
    errorBytes += kept.byteLength;
    if (kept.byteLength > 0) stderr.push(kept);
  });
  // The program does not have to read its input, so a broken pipe is not an error.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    let lastOutput: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      // Processes that it left in the background would outlive it and hold its output pipes open.
      killGroup(pid);
      lastOutput = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, LAST_OUTPUT_MS);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(lastOutput);
      if (outputBytes > MAX_OUTPUT_BYTES)
        return reject(new HookError('exited', `it printed more than ${MAX_OUTPUT_BYTES} bytes`));
      resolve({ exitCode, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}

/**
 * Kills the process groups of commands when this process is killed and cannot do it itself: the guard then sees its input pipe close. One
 * guard serves the whole process; it starts with the first command. It is sent only group numbers, never text that comes from others.
 */
interface ProcessGuard {
  add(group: number): void;
  remove(group: number): void;
}

const SCRIPT = `groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=; for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done; groups=$kept ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done`;

let running: ProcessGuard | undefined;

function processGuard(): ProcessGuard {
  return (running ??= startGuard());
}

function startGuard(): ProcessGuard {
  const guard = spawn('/bin/sh', ['-c', SCRIPT], {
    // The guard has its own process group; otherwise Ctrl-C would end it before it can kill the commands.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the guard cannot start, commands still end at their timeout.
  guard.on('error', () => {});
  guard.on('exit', () => (running = undefined));
  guard.stdin.on('error', () => {});
  // Neither the guard nor its pipe keeps this process alive.
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  const tell = (sign: string, group: number): void =>
    void (guard.stdin.writable && guard.stdin.write(`${sign} ${group}\n`));
  return { add: (group) => tell('+', group), remove: (group) => tell('-', group) };
}
