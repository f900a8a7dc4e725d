import { readFileSync } from 'node:fs';

/** Memory of a process that is in RAM now, in MiB; NaN where the system has no /proc. */
export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** The most it ever was. */
export function peakMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

function statusMb(pid: number, field: string): number {
  try {
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib) / 1024;
  } catch {
    return Number.NaN;
  }
}
