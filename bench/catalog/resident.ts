import { readFileSync } from 'node:fs';

/** Resident memory of a process, in MiB. NaN if the system has no /proc. */
export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** Peak resident memory of a process, in MiB. */
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
