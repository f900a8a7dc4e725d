import { runProgram } from '../../base/run-program.ts';
import { SECRET_COMMAND_DEFAULTS, type SecretCommand } from '../../domain/secret/secret-provider.ts';
import type { ReadSecret } from '../../domain/ports/secret-source.ts';
import { MAX_PRIVATE_BYTES } from '../../base/read-private-file.ts';

const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];

/** Runs a program that prints a secret. Never rejects. Its standard error is not kept, because it may contain the secret, too. */
export async function runSecretCommand(secret: SecretCommand): Promise<ReadSecret> {
  const { command, env = [], cwd, timeoutMs = SECRET_COMMAND_DEFAULTS.timeoutMs } = secret;
  const passed = [...ENVIRONMENT, ...env].flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []));
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const ending = await runProgram({
    command,
    ...(cwd === undefined ? {} : { cwd }),
    env: Object.fromEntries(passed) as Record<string, string>,
    maxOutputBytes: MAX_PRIVATE_BYTES,
    signal: late.signal,
  });
  clearTimeout(timer);
  const problem = (text: string): ReadSecret => ({ kind: 'problem', problem: text });
  switch (ending.kind) {
    case 'exited': {
      const { exitCode, signal, stdout } = ending;
      if (exitCode === 0) return { kind: 'read', value: stdout.toString('utf8') };
      return problem(`its command ended with ${signal === null ? `exit code ${exitCode}` : `signal ${signal}`}`);
    }
    case 'not-started':
      return problem(`its command cannot be started (${ending.code})`);
    case 'printed-too-much':
      return problem(`its command printed more than ${MAX_PRIVATE_BYTES} bytes`);
    case 'stopped':
      return problem(`its command took more than ${timeoutMs} ms`);
  }
}
