import type { Mutant } from '../mutant.ts';
import { INVARIANTS } from './invariants.ts';
import { ROWS_A } from './rows-a.ts';
import { ROWS_B } from './rows-b.ts';
import { ROWS_C } from './rows-c.ts';
import { ROWS_D } from './rows-d.ts';

/** All known bugs, in the order in which they are planted. */
export const MUTANTS: readonly Mutant[] = [...INVARIANTS, ...ROWS_A, ...ROWS_B, ...ROWS_C, ...ROWS_D];
