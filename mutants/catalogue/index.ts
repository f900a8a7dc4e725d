import type { Mutant } from '../mutant.ts';
import { INVARIANTS } from './invariants.ts';

/** All known bugs, in the order in which they are planted. */
export const MUTANTS: readonly Mutant[] = [...INVARIANTS];
