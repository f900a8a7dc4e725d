import { readFileSync, rmSync } from 'node:fs';
import type { Catcher } from '../mutant.ts';
import { runChild } from './run-child.ts';

export interface RanTest {
  readonly fullName: string;
  readonly status: 'passed' | 'failed';
}

/** `broken`: the tests could not be run to their end, so they say nothing about the code. */
export type RunResult =
  | { readonly kind: 'ran'; readonly tests: readonly RanTest[] }
  | { readonly kind: 'broken'; readonly output: string };

interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const TEST_LIMIT_MS = 90_000;

/** Runs the named tests of one file in the copy. */
export async function runTests(root: string, catchers: readonly Catcher[], limitMs: number): Promise<RunResult> {
  const [{ file } = { file: '' }] = catchers;
  // The report is next to the copy, not in it: the tests must see only the tree.
  const reportFile = `${root}-report.json`;
  rmSync(reportFile, { force: true });
  const titles = catchers.map(({ title }) => title).filter((title) => title !== undefined);
  const named = titles.length === catchers.length ? ['--testNamePattern', titles.map(escape).join('|')] : [];
  const { code, output } = await runChild(
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      `--project=${file.startsWith('test/') ? 'integration' : 'unit'}`,
      '--reporter=json',
      `--outputFile=${reportFile}`,
      // A bug may make a test wait forever. This timeout turns the test red before the time limit of the whole mutant is reached.
      `--testTimeout=${TEST_LIMIT_MS}`,
      // With one catcher, one red test is enough.
      ...(catchers.length === 1 ? ['--bail=1'] : []),
      ...named,
      file,
    ],
    { cwd: root, limitMs },
  );
  if (code === undefined) return { kind: 'broken', output: `The tests took longer than ${limitMs / 1000} s.` };
  return readReport(reportFile, code, output);
}

function readReport(reportFile: string, code: number, output: string): RunResult {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  } catch {
    return { kind: 'broken', output };
  }
  const results = report.testResults.flatMap((suite) => suite.assertionResults);
  const tests = results.filter((test): test is RanTest => test.status === 'passed' || test.status === 'failed');
  // A file could not be loaded, a hook failed, or an error occurred outside every test: nothing was tested.
  if (code !== 0 && !tests.some((test) => test.status === 'failed')) {
    const messages = report.testResults.map((suite) => suite.message).filter(Boolean);
    return {
      kind: 'broken',
      output: ['no test failed, but a hook or the file itself', ...messages, output].join('\n').trim(),
    };
  }
  return { kind: 'ran', tests };
}

/** The tests that a catcher names by a part of their titles. */
export function testsOf(catcher: Catcher, tests: readonly RanTest[]): RanTest[] {
  return tests.filter((test) => catcher.title === undefined || test.fullName.includes(catcher.title));
}

/** Groups catchers by file, so that the tests of a file run together and the file is loaded once. */
export function byFile(catchers: readonly Catcher[]): Catcher[][] {
  const groups = new Map<string, Catcher[]>();
  for (const catcher of catchers) {
    const group = groups.get(catcher.file) ?? [];
    if (!group.some((other) => other.title === catcher.title)) group.push(catcher);
    groups.set(catcher.file, group);
  }
  return [...groups.values()];
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
