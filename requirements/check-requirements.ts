import type { Mutant } from '../mutants/mutant.ts';
import { isNamedBy, readTests, type WrittenTest } from './read-tests.ts';
import type { ProvenRequirement, Requirement, RequirementGroup, TestReference } from './requirement.ts';

export interface CheckedRequirement {
  readonly id: string;
  readonly says: string;
  readonly state: 'proved' | 'later' | 'without proof';
  /** What is missing, as sentences. */
  readonly problems: readonly string[];
}

interface Known {
  /** The tests of a file; undefined if vitest would not run the file. */
  readonly testsOf: (file: string) => readonly WrittenTest[] | undefined;
  readonly mutants: readonly Mutant[];
}

/** Checks every requirement against the tests on disk and the known bugs. Runs no test and plants no bug. */
export function checkRequirements(
  groups: readonly RequirementGroup[],
  mutants: readonly Mutant[],
  top: string,
): CheckedRequirement[] {
  const known: Known = { testsOf: remember((file) => readTests(top, file)), mutants };
  const rows = groups.flatMap((group) => group.rows);
  return rows.map((row) => {
    const twice = rows.filter(({ id }) => id === row.id).length > 1 ? ['its id is used twice'] : [];
    return checkRequirement(row, known, twice);
  });
}

function checkRequirement(row: Requirement, known: Known, found: readonly string[]): CheckedRequirement {
  const { id, says } = row;
  if ('later' in row) {
    const problems = row.later.trim() === '' ? [...found, 'it is for later, and does not say why'] : found;
    return { id, says, state: problems.length === 0 ? 'later' : 'without proof', problems };
  }
  const problems = [...found, ...testProblems(row, known), ...mutantProblems(row, known)];
  return { id, says, state: problems.length === 0 ? 'proved' : 'without proof', problems };
}

function testProblems({ tests }: ProvenRequirement, { testsOf }: Known): string[] {
  if (tests.length === 0) return ['it names no test'];
  return tests.flatMap(({ file, title }) => {
    const written = testsOf(file);
    if (written === undefined) return [`there is no test file ${file}`];
    if (title === '') return [`it names no title in ${file}`];
    return written.some((each) => isNamedBy(each, title)) ? [] : [`no test of ${file} has "${title}" in its title`];
  });
}

function mutantProblems({ tests, mutants }: ProvenRequirement, known: Known): string[] {
  if (mutants.length === 0) return ['no mutant turns its tests red'];
  return mutants.flatMap((id) => {
    const mutant = known.mutants.find((each) => each.id === id);
    if (mutant === undefined) return [`there is no mutant ${id}`];
    return tests.some((test) => isCaughtBy(mutant, test, known))
      ? []
      : [`the mutant ${id} is caught by none of its tests`];
  });
}

/** A mutant's catcher and a row's test may quote different parts of one title, or a case of it. They match if both name the same written test. */
function isCaughtBy(mutant: Mutant, { file, title }: TestReference, { testsOf }: Known): boolean {
  const meant = (testsOf(file) ?? []).filter((each) => isNamedBy(each, title));
  return mutant.caughtBy
    .filter((catcher) => catcher.file === file)
    .some((catcher) => catcher.title === undefined || meant.some((each) => isNamedBy(each, catcher.title!)));
}

function remember<T>(read: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, read(key));
    return known.get(key)!;
  };
}

export function countLine(rows: readonly CheckedRequirement[]): string {
  const count = (state: CheckedRequirement['state']): number => rows.filter((row) => row.state === state).length;
  return `${count('proved')} rows proved, ${count('later')} later, ${count('without proof')} without proof`;
}
