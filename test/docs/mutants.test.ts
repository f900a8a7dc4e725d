import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../mutants/catalogue/index.ts';
import { findProblems } from '../../mutants/runner/find-problems.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the list of mutants', () => {
  it('has for each bug a text that occurs once in its file, and tests that exist', () => {
    expect(findProblems(MUTANTS, ROOT)).toEqual([]);
  });
});
