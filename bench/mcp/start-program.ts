import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ownChild } from '../harness/left-behind.ts';

export interface Program {
  readonly pid: number;
  /** The text that the pattern matched. */
  readonly found: string;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** Starts a program and waits until it has printed text that the pattern matches. */
export async function startProgram(
  command: string,
  args: readonly string[],
  ready: RegExp,
  cwd?: string,
): Promise<Program> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(cwd === undefined ? {} : { cwd }) });
  ownChild(child);
  const exited = once(child, 'exit');
  let output = '';
  const found = await new Promise<string>((resolve, reject) => {
    const fail = (what: string): void => reject(new Error(`${args[0] ?? command} ${what}: ${output.slice(-2000)}`));
    const timer = setTimeout(() => fail('is not ready'), READY_WITHIN_MS);
    const hear = (chunk: Buffer): void => {
      // After the program is ready its output is not needed any more, and it must not fill the memory.
      if (output.length < 1e6) output += chunk.toString();
      const match = ready.exec(output);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match[1] ?? match[0]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('exit', () => fail('ended at its start'));
  });
  return {
    pid: child.pid!,
    found,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
