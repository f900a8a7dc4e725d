import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const sourceOf = (path: string): string => fileURLToPath(new URL(`./src/exports/${path}`, import.meta.url));

// The package's own name means its sources, so that a test and an example it imports share one set of classes.
const alias = [
  { find: /^sallyport$/, replacement: sourceOf('worker.ts') },
  { find: /^sallyport\/(client|tool|service|toolkit|gate|mcp|testing|web)$/, replacement: sourceOf('$1.ts') },
];

export default defineConfig({
  test: {
    retry: 0,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'bench/**/*.test.ts'],
          maxWorkers: 2,
          // No test waits for time to pass; a busy machine must not fail one that counts many cases.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias },
        test: {
          // Real Redis, real processes, which are waited for a third of the time: so three at a time on two cores.
          name: 'integration',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
