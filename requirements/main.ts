import { MUTANTS } from '../mutants/catalogue/index.ts';
import { checkRequirements, type CheckedRequirement } from './check-requirements.ts';
import { REQUIREMENTS } from './index.ts';

export { countLine } from './check-requirements.ts';
export { requirementsPage } from './requirements-page.ts';

/** Checks every row against the tests and mutants of this tree. */
export const checkAll = (top: string): CheckedRequirement[] => checkRequirements(REQUIREMENTS, MUTANTS, top);
