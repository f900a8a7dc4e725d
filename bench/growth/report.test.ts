import { expect, it } from 'vitest';
import type { GrowthCell } from './plane.ts';
import { defaultSizes, DIMENSIONS, modulesOf, populationOf } from './population.ts';
import { reportGrowth } from './report.ts';

const cell = (usPerCall: number, redisUs = 10): GrowthCell => ({ usPerCall, callerUs: 5, workerUs: 5, redisUs });

it('growth is judged inside each repetition, so that a slow minute of the machine is no growth', () => {
  const planes = [
    { size: 1000, storeBytes: 1, cells: [cell(100), cell(300), cell(100)] },
    { size: 10_000, storeBytes: 2, cells: [cell(110, 20), cell(330, 20), cell(110, 20)] },
  ];
  const { ratios, table } = reportGrowth('redis', 'settled', planes);
  expect(ratios.map(({ id, value }) => [id, Number(value.toFixed(3))])).toEqual([
    ['growth/redis/settled/10000/time', 1.1],
    ['growth/redis/settled/10000/cpu', 1.5],
  ]);
  expect(table.rows.map(({ label }) => label)).toEqual(['1,000', '10,000']);
});

it('a population grows ten times in everything but what the store holds, one dimension alone leaves the others small', () => {
  expect(defaultSizes('population').map((size) => populationOf('population', size))).toEqual([
    { settled: 1000, agents: 10, tools: 100, sessions: 100 },
    { settled: 1000, agents: 100, tools: 1000, sessions: 1000 },
    { settled: 1000, agents: 1000, tools: 10_000, sessions: 10_000 },
  ]);
  expect(populationOf('tools', 1000)).toEqual({ settled: 1000, agents: 10, tools: 1000, sessions: 100 });
  for (const dimension of DIMENSIONS) {
    for (const size of defaultSizes(dimension)) {
      const { modules, toolsPerModule } = modulesOf(populationOf(dimension, size));
      expect(modules * toolsPerModule).toBe(populationOf(dimension, size).tools);
    }
  }
});
