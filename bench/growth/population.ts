import type { Policy } from 'sallyport/testing';
import { makePolicy } from '../toolkits/population.ts';

/** The size of a plane: how much its store holds, and how many agents, tools and sessions use it. */
export interface Population {
  readonly settled: number;
  readonly agents: number;
  readonly tools: number;
  readonly sessions: number;
}

export const DIMENSIONS = ['settled', 'population', 'agents', 'tools', 'sessions'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The sizes of the other dimensions while one grows. */
const SMALL: Population = { settled: 1000, agents: 10, tools: 100, sessions: 100 };
const MODULE_TOOLS = 100;

/** In the dimension `population`, agents, tools and sessions grow together, ten times each step; the store's content does not grow. */
export function populationOf(dimension: Dimension, size: number): Population {
  if (dimension !== 'population') return { ...SMALL, [dimension]: size };
  const step = size / SMALL.agents;
  return { settled: SMALL.settled, agents: size, tools: SMALL.tools * step, sessions: SMALL.sessions * step };
}

export function defaultSizes(dimension: Dimension): readonly number[] {
  switch (dimension) {
    case 'settled':
      return [1000, 10_000, 100_000, 1_000_000];
    case 'population':
    case 'agents':
      return [10, 100, 1000];
    case 'tools':
    case 'sessions':
      return [100, 1000, 10_000];
  }
}

export function modulesOf({ tools }: Population): { modules: number; toolsPerModule: number } {
  const toolsPerModule = Math.min(tools, MODULE_TOOLS);
  return { modules: Math.max(1, Math.round(tools / toolsPerModule)), toolsPerModule };
}

/** The same policy as in the toolkits bench: some agents select everything, some a few modules, most of them single tools. */
export function policyOf(population: Population): Policy {
  return makePolicy({ agents: population.agents, ...modulesOf(population) })();
}
