import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';

export function describeMachine(): string {
  const processors = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  return `Node ${process.version}, ${platform()} ${arch()}, ${processors}, ${scheduling()}`;
}

const SCHED_BATCH = 3;

/** Of this process, and so of all that it starts. */
function scheduling(): string {
  try {
    const [, policy] = /^policy\s*:\s*(\d+)/m.exec(readFileSync('/proc/self/sched', 'utf8')) ?? [];
    return Number(policy) === SCHED_BATCH ? 'batch scheduling' : 'usual scheduling';
  } catch {
    return 'usual scheduling';
  }
}

/** What others made of the machine in the last minute, per core. Above a half the absolute figures mean little. */
export function loadPerCore(): number {
  return loadavg()[0]! / cpus().length;
}
