import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of all threads of a process, in microseconds. It includes the thread that does the fsync of Redis' append-only file. */
export function cpuMicrosecondsOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
  } catch {
    return ticksOf(pid) * 10_000;
  }
}

/** Fallback for a kernel without scheduler statistics: CPU time in ticks of 10 ms. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** CPU time of a process and of all processes that it started and that are still live. */
export function cpuOfTree(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMicrosecondsOf(each), 0);
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const own = threads.flatMap((thread) => {
    const listed = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
    return listed === '' ? [] : listed.split(' ').map(Number);
  });
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}
