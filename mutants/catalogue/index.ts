import type { Mutant } from '../mutant.ts';
import { ACCEPT } from './accept.ts';
import { LEASE } from './lease.ts';
import { PERMISSION } from './permission.ts';
import { PLANE } from './plane.ts';
import { SETTLE } from './settle.ts';

/** All known bugs, in the order in which they are planted. */
export const MUTANTS: readonly Mutant[] = [...ACCEPT, ...LEASE, ...SETTLE, ...PERMISSION, ...PLANE];
