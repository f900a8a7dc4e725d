import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cpuOfTree } from '../harness/cpu-of.ts';
import { ownChild, ownFolder } from '../harness/left-behind.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const MODULES = fileURLToPath(new URL('../round-trip/modules', import.meta.url));
const TIMES = /^(\d+)m([\d.]+)s (\d+)m([\d.]+)s$/gm;
const READY = /^Ctrl-C ends it/;

/** CPU seconds of a command that ends by itself, as the shell's `times` reports them. */
export function cpuOfCommand(node: string, args: readonly string[]): number {
  const script = '"$@" > /dev/null || exit 1; times';
  const { status, stdout } = spawnSync('sh', ['-c', script, 'sh', node, MAIN, ...args], { encoding: 'utf8' });
  const children = [...(stdout ?? '').matchAll(TIMES)].at(1);
  if (status !== 0 || children === undefined) throw new Error(`sallyport ${args.join(' ')} failed on ${node}`);
  const [, userMinutes, user, systemMinutes, system] = children.map(Number);
  return userMinutes! * 60 + user! + systemMinutes! * 60 + system!;
}

export interface Started {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

/** Measures from the start of `sallyport dev` until it prints that it is ready. */
export async function startOfDev(node: string): Promise<Started> {
  const startedMs = performance.now();
  const child = spawn(node, [MAIN, 'dev', '--modules', MODULES], {
    cwd: ownFolder(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  ownChild(child);
  const gone = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr })) {
    if (!READY.test(line)) continue;
    const started = { cpuSeconds: cpuOfTree(child.pid!) / 1e6, wallSeconds: (performance.now() - startedMs) / 1000 };
    child.kill('SIGTERM');
    child.stderr.resume();
    await gone;
    return started;
  }
  throw new Error(`sallyport dev ended before it was ready, on ${node}`);
}
