import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Catcher, Mutant } from '../mutant.ts';

const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Checks the list itself, and returns its problems as sentences. Builds and runs nothing. */
export function findProblems(mutants: readonly Mutant[], root: string): string[] {
  const seen = new Set<string>();
  return mutants.flatMap((mutant) => {
    const problems = problemsOf(mutant, root);
    if (seen.has(mutant.id)) problems.push('its id is used twice');
    seen.add(mutant.id);
    return problems.map((problem) => `${mutant.id}: ${problem}`);
  });
}

function problemsOf(mutant: Mutant, root: string): string[] {
  const problems: string[] = [];
  if (!KEBAB_CASE.test(mutant.id)) problems.push('its id is not kebab-case');
  if (mutant.find === mutant.replace) problems.push('it changes nothing');
  if (mutant.caughtBy.length === 0) problems.push('it names no test');
  const path = join(root, mutant.file);
  if (!existsSync(path)) problems.push(`there is no ${mutant.file}`);
  else {
    const count = countOf(readFileSync(path, 'utf8'), mutant.find);
    if (count !== 1) problems.push(`its text occurs ${count} times in ${mutant.file}: ${JSON.stringify(mutant.find)}`);
  }
  return [...problems, ...mutant.caughtBy.flatMap((catcher) => catcherProblems(catcher, root))];
}

export function countOf(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1;
}

function catcherProblems({ file, title }: Catcher, root: string): string[] {
  if (!file.endsWith('.test.ts') || !existsSync(join(root, file))) return [`there is no test file ${file}`];
  if (title === undefined) return [];
  const texts = [...readWithImports(join(root, file))].map((path) => readFileSync(path, 'utf8'));
  return texts.some((text) => text.includes(title)) ? [] : [`no test of ${file} has "${title}" in its title`];
}

const reads = new Map<string, Set<string>>();

/**
 * The file and all files it imports by relative path, except those in `src/`: the tests of a contract are in files next to its test file.
 */
function readWithImports(start: string): Set<string> {
  const known = reads.get(start);
  if (known) return known;
  const found = new Set([start]);
  for (const path of found) {
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(/from '(\.{1,2}\/[^']+\.ts)'/g)) {
      const imported = join(dirname(path), specifier ?? '');
      if (!imported.includes('/src/') && existsSync(imported)) found.add(imported);
    }
  }
  reads.set(start, found);
  return found;
}
