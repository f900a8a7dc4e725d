import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';

export function describeMachine(): string {
  const processors = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  return `Node ${process.version}, ${platform()} ${arch()}, ${processors}, ${scheduling()}`;
}

const SCHED_BATCH = 3;

/** The scheduling policy of this process, which all processes that it starts inherit. */
function scheduling(): string {
  try {
    const [, policy] = /^policy\s*:\s*(\d+)/m.exec(readFileSync('/proc/self/sched', 'utf8')) ?? [];
    return Number(policy) === SCHED_BATCH ? 'batch scheduling' : 'usual scheduling';
  } catch {
    return 'usual scheduling';
  }
}

/** Load of the machine in the last minute, per core. Above 0.5 the absolute figures mean little. */
export function loadPerCore(): number {
  return loadavg()[0]! / cpus().length;
}
