import { readdirSync, readFileSync } from 'node:fs';
import { residentBytes } from '../../worker/runners/process/resident-memory.ts';

/** The name of an environment variable whose value tells to which instance a process belongs. Children inherit it. */
export const INSTANCE_MARK = 'SALLYPORT_INSTANCE';

/**
 * Finds the processes of instances by the mark in their environment, also those that left the process group of their parent. Empty where the
 * system has no /proc.
 */
export function findMarkedProcesses(instances: ReadonlySet<string>): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const pid of listProcesses()) {
    const instance = markOf(pid);
    if (instance === undefined || !instances.has(instance)) continue;
    found.set(instance, [...(found.get(instance) ?? []), pid]);
  }
  return found;
}

/** Resident bytes of all processes of an instance together. Memory that they share counts several times. */
export function residentBytesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (residentBytes(pid) ?? 0), 0);
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function markOf(pid: number): string | undefined {
  try {
    // latin1: an environment may contain any bytes.
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return variables.find((one) => one.startsWith(`${INSTANCE_MARK}=`))?.slice(INSTANCE_MARK.length + 1);
  } catch {
    // The process has ended, or belongs to another user.
    return undefined;
  }
}
