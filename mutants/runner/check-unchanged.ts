import type { Catcher } from '../mutant.ts';
import { nameOf } from './judge-mutant.ts';
import { runTests, testsOf } from './run-tests.ts';

const FILE_LIMIT_MS = 600_000;

export interface Checked {
  readonly problems: readonly string[];
  readonly tests: number;
}

/**
 * Runs the named tests of one file without any bug. If a test is red here, or does not exist, every later red result would mean nothing.
 */
export async function checkUnchanged(root: string, catchers: readonly Catcher[]): Promise<Checked> {
  const run = await runTests(root, catchers, FILE_LIMIT_MS);
  const [{ file } = { file: '' }] = catchers;
  if (run.kind === 'broken') return { problems: [`${file} could not be run: ${run.output}`], tests: 0 };
  const failed = run.tests.filter((test) => test.status === 'failed').map((test) => `red: ${file} "${test.fullName}"`);
  const absent = catchers
    .filter((catcher) => testsOf(catcher, run.tests).length === 0)
    .map((catcher) => `no test: ${nameOf(catcher)}`);
  return { problems: [...failed, ...absent], tests: run.tests.length };
}
