import type { LoopEnding } from './fleet-types.ts';

export interface LoopRun {
  readonly run: string;
  readonly agent: string;
  readonly at: number;
  readonly warned: number;
  readonly blocked: number;
  readonly tools: readonly string[];
  readonly detectors: readonly string[];
  /** Newest first. */
  readonly endings: readonly LoopEnding[];
}

/** One entry per run, with the run that looped last first. A looping run has many warned and blocked calls. */
export function groupLoops(endings: readonly LoopEnding[]): LoopRun[] {
  const byRun = new Map<string, LoopEnding[]>();
  for (const ending of endings) {
    const key = `${ending.agent}\n${ending.run}`;
    byRun.set(key, [...(byRun.get(key) ?? []), ending]);
  }
  const runs = [...byRun.values()].map((group) => {
    const newest = group.toSorted((one, other) => other.at - one.at);
    const { run, agent, at } = newest[0]!;
    const blocked = group.filter(({ kind }) => kind === 'blocked').length;
    return {
      run,
      agent,
      at,
      warned: group.length - blocked,
      blocked,
      tools: [...new Set(group.map(({ tool }) => tool))],
      detectors: [...new Set(group.map(({ detector }) => detector))],
      endings: newest,
    };
  });
  return runs.toSorted((one, other) => other.at - one.at);
}
