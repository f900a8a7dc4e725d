import { median } from '../harness/statistics.ts';

/**
 * Median CPU time of one run of each function, in microseconds. The functions take turns in short slices, so that a disturbance affects
 * all of them. All threads of the process count, including those of the garbage collector. The first rounds are a warm-up and are not
 * counted.
 */
export function measureCpu<Name extends string>(
  works: Readonly<Record<Name, () => void>>,
  { rounds, runs }: { readonly rounds: number; readonly runs: number },
): Record<Name, number> {
  const names = Object.keys(works) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const warmUp = Math.ceil(rounds / 4);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const name of names) {
      const us = cpuOf(works[name], runs) / runs;
      if (round >= 0) taken[name].push(us);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(taken[name])])) as Record<Name, number>;
}

function cpuOf(work: () => void, runs: number): number {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
