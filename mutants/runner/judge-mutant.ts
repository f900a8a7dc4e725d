import type { Catcher, Mutant } from '../mutant.ts';
import { byFile, runTests, testsOf } from './run-tests.ts';
import type { TreeCopy } from './tree-copy.ts';

export interface Judgement {
  readonly id: string;
  /** `error`: the mutant could not be built, or its tests could not be run. This proves nothing. */
  readonly result: 'caught' | 'survived' | 'error';
  /** The tests that turned red. */
  readonly red: readonly string[];
  /** The named tests that stayed green, or why nothing is proven. */
  readonly reason?: string;
  readonly tookMs: number;
}

/** Time limit for the build and the tests of one mutant together: many times what they take on an idle machine. */
const MUTANT_LIMIT_MS = 300_000;

/**
 * Tests that run the sources in their own process. For them the sources are only type-checked and not built. If one of them ran the build
 * after all, it would not see the planted bug, and the bug would survive.
 */
const READS_SOURCES = /^(?:src|console)\/|^test\/contract\/(?:embedded|redis)\.test\.ts$/;

/** Plants one bug, builds, runs its tests and removes the bug again. */
export async function judgeMutant(mutant: Mutant, copy: TreeCopy): Promise<Judgement> {
  const startedMs = performance.now();
  const planted = copy.plant(mutant);
  try {
    return { id: mutant.id, ...(await judgePlanted(mutant, copy)), tookMs: performance.now() - startedMs };
  } finally {
    planted.takeOut();
  }
}

type Verdict = Pick<Judgement, 'result' | 'red' | 'reason'>;

async function judgePlanted(mutant: Mutant, copy: TreeCopy): Promise<Verdict> {
  const endsAt = performance.now() + MUTANT_LIMIT_MS;
  const isRun = mutant.caughtBy.some(({ file }) => !READS_SOURCES.test(file));
  const built = await copy.buildChanged(mutant.file, { isRun, limitMs: MUTANT_LIMIT_MS });
  if (built.kind === 'failed') return { result: 'error', red: [], reason: `could not be built: ${built.output}` };
  const red: string[] = [];
  const green: Catcher[] = [];
  for (const catchers of byFile(mutant.caughtBy)) {
    const run = await runTests(copy.root, catchers, endsAt - performance.now());
    if (run.kind === 'broken') return { result: 'error', red, reason: `its tests could not be run: ${run.output}` };
    for (const catcher of catchers) {
      const failed = testsOf(catcher, run.tests).filter((test) => test.status === 'failed');
      if (failed.length === 0) green.push(catcher);
      red.push(...failed.map((test) => test.fullName));
    }
  }
  const names = [...new Set(red)];
  if (green.length === 0) return { result: 'caught', red: names };
  return { result: 'survived', red: names, reason: `stayed green: ${green.map(nameOf).join('; ')}` };
}

export function nameOf({ file, title }: Catcher): string {
  return title === undefined ? file : `${file} "${title}"`;
}
