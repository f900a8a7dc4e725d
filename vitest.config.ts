import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const sourceOf = (path: string): string => fileURLToPath(new URL(`./src/exports/${path}`, import.meta.url));

// The package's own name means its sources, so that a test and an example it imports share one set of classes.
const alias = [
  { find: /^sallyport$/, replacement: sourceOf('worker.ts') },
  { find: /^sallyport\/(client|tool|service|toolkit|gate|mcp|testing|web)$/, replacement: sourceOf('$1.ts') },
];

/** Small files which take a minute or more, the longest first. Vitest begins with the large ones; these would be a tail of two minutes. */
const LONG = [
  'journeys/approvals',
  'chaos/layers',
  'plane/pinned',
  'plane/crash-points',
  'contract/embedded',
  'contract/redis-cluster',
  'contract/redis',
  'plane/approval-callbacks',
  'plane/fairness',
  'plane/load-and-recovery',
  'plane/approval-soak',
  'audit/kill-soak',
  'mcp/conformance',
].map((name) => `/test/${name}.test.ts`);

/**
 * How many integration test files run at a time. Next to busy processes, more files finish a run sooner: the tests then get a larger part of
 * the processors.
 */
const FILES_AT_A_TIME = Number(process.env['SALLYPORT_TEST_FILES_AT_A_TIME'] ?? 5);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = LONG.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    return [...long, ...sorted.filter((file) => !long.includes(file))];
  }
}

export default defineConfig({
  test: {
    retry: 0,
    // Of the whole run; the projects still go one after the other, by their groups.
    sequence: { sequencer: LongestFirst },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'bench/**/*.test.ts'],
          maxWorkers: 2,
          // Pure code, loaded once per worker and not once per file: 31 s of CPU instead of 81 for all of them.
          isolate: false,
          // No test waits for time to pass; a busy machine must not fail one that counts many cases.
          testTimeout: 300_000,
          expect: { poll: { timeout: 120_000 } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias },
        test: {
          // Real Redis, real processes: the files wait for them more than half of the time, so five run at a time on two cores.
          name: 'integration',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: FILES_AT_A_TIME,
          // Longer than PATIENCE_MS of test/support/watched-process.ts, so that a test says itself what it missed.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 120_000 } },
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
