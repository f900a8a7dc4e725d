import type { TlsFiles } from './tls-files.ts';
import { startProgram } from './watched-process.ts';

export const INSTALL_REDIS =
  'The tests run against a real Redis 7: apt-get install redis-server (Debian, Ubuntu) or brew install redis (macOS).';

export interface CliTarget {
  readonly port: number;
  readonly password?: string;
  readonly username?: string;
  readonly tls?: TlsFiles;
}

/** Runs one command with redis-cli and returns its output; rejects on an error reply of the server. */
export async function runRedisCli(target: CliTarget, args: readonly string[]): Promise<string> {
  const tlsArguments = target.tls === undefined ? [] : ['--tls', '--cacert', target.tls.caFile];
  const userArguments = target.username === undefined ? [] : ['--user', target.username];
  // -e: an error reply gives an exit code other than 0. Otherwise redis-cli prints it and ends with 0.
  const child = await startProgram(
    'redis-cli',
    ['-h', '127.0.0.1', '-p', String(target.port), '-e', ...tlsArguments, ...userArguments, ...args],
    { env: { REDISCLI_AUTH: target.password }, installHint: INSTALL_REDIS },
  );
  const { code, signal } = await child.exited;
  if (code !== 0) {
    const said = (child.stderr + child.stdout).trim();
    throw new Error(`redis-cli ${args.join(' ')} ended with ${code ?? signal}: ${said}`);
  }
  return child.stdout.replace(/\n$/, '');
}
