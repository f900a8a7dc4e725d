import { expect, test } from 'vitest';
import type { LoopEnding } from './fleet-types.ts';
import { groupLoops } from './group-loops.ts';

const ending = (run: string, at: number, kind: LoopEnding['kind'], tool = 'a.b'): LoopEnding => ({
  run,
  at,
  kind,
  tool,
  callId: `${run}-${at}`,
  agent: 'support',
  detector: 'repeat',
});

test('loops are one row per run, the last one first, with what was warned and blocked', () => {
  const runs = groupLoops([ending('r1', 5, 'blocked'), ending('r2', 9, 'warned'), ending('r1', 3, 'warned', 'c.d')]);
  expect(runs).toMatchObject([
    { run: 'r2', at: 9, warned: 1, blocked: 0 },
    { run: 'r1', at: 5, warned: 1, blocked: 1, tools: ['a.b', 'c.d'], detectors: ['repeat'] },
  ]);
  expect(runs[1]?.endings.map(({ at }) => at)).toEqual([5, 3]);
});
