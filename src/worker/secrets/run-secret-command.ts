import { spawn } from 'node:child_process';
import { SECRET_COMMAND_DEFAULTS, type SecretCommand } from '../../domain/secret/secret-provider.ts';
import type { ReadSecret } from '../../domain/ports/secret-source.ts';
import { MAX_PRIVATE_BYTES } from '../../base/read-private-file.ts';

const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];

/** Runs a program that prints a secret. Never rejects. Its standard error is not kept, because it may contain the secret, too. */
export function runSecretCommand(secret: SecretCommand): Promise<ReadSecret> {
  const { command, env = [], cwd, timeoutMs = SECRET_COMMAND_DEFAULTS.timeoutMs } = secret;
  const [program, ...args] = command;
  const passed = [...ENVIRONMENT, ...env].flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // The program gets its own process group, so that everything it starts is killed with it.
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: Object.fromEntries(passed) as NodeJS.ProcessEnv,
      ...(cwd === undefined ? {} : { cwd }),
    });
    const end = (answer: ReadSecret): void => {
      clearTimeout(timer);
      killGroup(child.pid);
      child.stdout.destroy();
      resolve(answer);
    };
    const fail = (problem: string): void => end({ kind: 'problem', problem });
    const timer = setTimeout(() => fail(`its command took more than ${timeoutMs} ms`), timeoutMs);
    child.once('error', (error: NodeJS.ErrnoException) => fail(`its command cannot be started (${error.code})`));
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > MAX_PRIVATE_BYTES) fail(`its command printed more than ${MAX_PRIVATE_BYTES} bytes`);
    });
    child.once('close', (code, signal) => {
      if (code === 0) end({ kind: 'read', value: Buffer.concat(chunks).toString('utf8') });
      else fail(`its command ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}`);
    });
  });
}

/** Only the first answer counts, so this may run more than once; killing a group that is gone does nothing. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}
