import type { Mutant } from '../mutant.ts';
import { checkUnchanged } from './check-unchanged.ts';
import { findProblems } from './find-problems.ts';
import { judgeMutant, type Judgement } from './judge-mutant.ts';
import { byFile } from './run-tests.ts';
import { TreeCopy } from './tree-copy.ts';

export interface RunOptions {
  readonly project: string;
  /** The folder for the copies. The caller removes it. */
  readonly folder: string;
  readonly jobs: number;
  readonly say: (line: string) => void;
}

/** `refused`: no bug was planted, because the list is wrong or its tests are not green without a bug. */
export type RunEnd =
  | { readonly kind: 'judged'; readonly judgements: readonly Judgement[] }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

export async function runMutants(mutants: readonly Mutant[], options: RunOptions): Promise<RunEnd> {
  const { say } = options;
  const wrong = findProblems(mutants, options.project);
  if (wrong.length > 0) return { kind: 'refused', problems: wrong };

  const startedMs = performance.now();
  const copies = Array.from({ length: options.jobs }, (_, index) =>
    TreeCopy.of(options.project, options.folder, `job-${index + 1}`),
  );
  say(`${copies.length} copies made in ${seconds(performance.now() - startedMs)}`);

  const problems = await checkAll(mutants, copies, say);
  if (problems.length > 0) return { kind: 'refused', problems };
  const judgements = await spread(mutants, copies, async (mutant, copy) => {
    const judgement = await judgeMutant(mutant, copy);
    say(lineOf(judgement));
    return judgement;
  });
  return { kind: 'judged', judgements };
}

async function checkAll(
  mutants: readonly Mutant[],
  copies: readonly TreeCopy[],
  say: RunOptions['say'],
): Promise<string[]> {
  const startedMs = performance.now();
  const files = byFile(mutants.flatMap((mutant) => mutant.caughtBy));
  const checked = await spread(files, copies, (catchers, copy) => checkUnchanged(copy.root, catchers));
  const tests = checked.reduce((sum, file) => sum + file.tests, 0);
  say(`without a bug: ${tests} tests in ${files.length} files, ${seconds(performance.now() - startedMs)}`);
  return checked.flatMap((file) => file.problems);
}

/** Distributes the items over the copies. Each copy works on one item at a time. The results are in the order of the items. */
async function spread<Item, Result>(
  items: readonly Item[],
  copies: readonly TreeCopy[],
  work: (item: Item, copy: TreeCopy) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const left = items.entries();
  const worker = async (copy: TreeCopy): Promise<void> => {
    for (const [index, item] of left) results.set(index, await work(item, copy));
  };
  await Promise.all(copies.map(worker));
  return [...results].toSorted(([one], [other]) => one - other).map(([, result]) => result);
}

function lineOf({ id, result, red, reason, tookMs }: Judgement): string {
  const word = { caught: 'caught  ', survived: 'SURVIVED', error: 'ERROR   ' }[result];
  return `${word}  ${seconds(tookMs).padStart(7)}  ${id}  ${result === 'caught' ? `by "${red[0] ?? ''}"` : (reason ?? '')}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
