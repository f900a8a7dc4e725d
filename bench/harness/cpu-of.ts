import { readdirSync, readFileSync } from 'node:fs';

/** All threads are in, so the fsync of the append-only file is too. */
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

/** A kernel without statistics of its scheduler counts in ticks of 10 ms. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** With all processes that it started, as long as they live. */
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
