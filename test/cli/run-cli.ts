import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reapAfterExit } from '../support/reaper.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';

/** The built program, as users run it. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Writes a manifest of the modules that the tests call; returns its path. */
export function writeManifest(folder: string): string {
  const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const path = join(folder, 'modules.json');
  const modules = [
    { file: file('../fixtures/plane/basic.mjs') },
    { file: file('./modules/odd.mjs'), runner: 'process' },
  ];
  writeFileSync(path, JSON.stringify({ modules }));
  return path;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The content of standard input. */
  readonly input?: string | Uint8Array;
  /** The program's file in another installation; default: this build. */
  readonly main?: string;
  /** The Node.js to run it with, if not the one that runs the tests. */
  readonly node?: string | undefined;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An environment without settings of this machine, so that they cannot change the results of the tests. */
function cleanEnvironment(more: CliOptions['env'] = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SALLYPORT_') && !name.startsWith('npm_') && !name.startsWith('LC_'),
  );
  // The name of the command, as in an installation. Hints of the program then show `sallyport`.
  const started = { SALLYPORT_STARTED_AS: 'sallyport' };
  const env = { ...Object.fromEntries(inherited), ...started, NO_COLOR: undefined, LANG: 'C.UTF-8', ...more };
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

/** Runs one command to its end. */
export function runCli(
  args: readonly string[],
  { cwd, env, input, main = MAIN, node = process.execPath }: CliOptions,
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [main, ...args], {
      cwd,
      env: cleanEnvironment(env),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const release = child.pid === undefined ? () => undefined : reapAfterExit({ pid: child.pid, what: args.join(' ') });
    const text = { stdout: '', stderr: '' };
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
    // A program that fails early does not read the rest of its input.
    child.stdin?.on('error', () => undefined);
    if (input !== undefined) child.stdin?.end(input);
    child.once('error', reject);
    child.once('close', (code) => {
      release();
      child.stdin?.destroy();
      resolve({ code, ...text });
    });
  });
}

/** Starts a command that keeps running: `dev`, `worker`, a long wait. */
export function startCli(
  args: readonly string[],
  { cwd, env, main = MAIN, node = process.execPath }: Omit<CliOptions, 'input'>,
): Promise<WatchedProcess> {
  const inherited = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  return startProgram(node, [main, ...args], { cwd, env: { ...inherited, ...cleanEnvironment(env) } });
}

export function jsonOf(result: CliResult): Record<string, unknown> {
  try {
    return JSON.parse(result.stdout) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`Not JSON (exit ${result.code}): ${result.stdout}\n${result.stderr}`, { cause: error });
  }
}
