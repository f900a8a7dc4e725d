import { arch, cpus, loadavg, platform } from 'node:os';

export function describeMachine(): string {
  return `Node ${process.version}, ${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
}

/** What others made of the machine in the last minute, per core. Above a half the absolute figures mean little. */
export function loadPerCore(): number {
  return loadavg()[0]! / cpus().length;
}
