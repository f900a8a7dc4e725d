import { INVARIANTS } from './invariants.ts';
import type { RequirementGroup } from './requirement.ts';
import { ROWS_SHOWN } from './rows-shown.ts';
import { ROWS_RUNNING } from './rows-running.ts';
import { ROWS_AFTER_A_LOOP } from './rows-after-a-loop.ts';
import { ROWS_LOOPS } from './rows-loops.ts';
import { ROWS_AGENTS } from './rows-agents.ts';
import { ROWS_AUDIT_ROLES } from './rows-audit-roles.ts';
import { ROWS_ADMINISTRATION } from './rows-administration.ts';
import { ROWS_GATE } from './rows-gate.ts';
import { ROWS_BYTES } from './rows-bytes.ts';
import { ROWS_SELECTION } from './rows-selection.ts';
import { ROWS_CORE } from './rows-core.ts';
import { ROWS_BEYOND } from './rows-beyond.ts';
import { ROWS_SETUP } from './rows-setup.ts';
import { ROWS_FRONT } from './rows-front.ts';
import { ROWS_LIBRARY } from './rows-library.ts';
import { ROWS_STATEMENTS } from './rows-statements.ts';
import { ROWS_OWED } from './rows-owed.ts';
import { ROWS_RESULT_HOOKS } from './rows-result-hooks.ts';
import { ROWS_REVOKED } from './rows-revoked.ts';
import { ROWS_SHARES } from './rows-shares.ts';
import { ROWS_TENANT_AGENTS, ROWS_UNATTENDED } from './rows-unattended.ts';

/** All requirements, in the order of docs/proofs/requirements.md. */
export const REQUIREMENTS: readonly RequirementGroup[] = [
  { title: 'Running tools', rows: ROWS_RUNNING },
  { title: 'The gate before a call', rows: ROWS_GATE },
  { title: 'Tools per agent', rows: ROWS_SELECTION },
  { title: 'Beyond', rows: ROWS_BEYOND },
  { title: 'The audit cannot be set back', rows: ROWS_STATEMENTS },
  { title: 'What is shown is what runs', rows: ROWS_SHOWN },
  { title: 'What is judged is what runs', rows: ROWS_BYTES },
  { title: 'One intention is one call', rows: ROWS_OWED },
  { title: 'The audit against each role', rows: ROWS_AUDIT_ROLES },
  { title: 'Administration in the audit', rows: ROWS_ADMINISTRATION },
  { title: 'The documented set-up', rows: ROWS_SETUP },
  { title: 'The front of the gateway', rows: ROWS_FRONT },
  { title: 'After a loop', rows: ROWS_AFTER_A_LOOP },
  { title: 'Loops that hide', rows: ROWS_LOOPS },
  { title: 'Revoked means revoked', rows: ROWS_REVOKED },
  { title: 'Shares of one subject', rows: ROWS_SHARES },
  { title: 'Agents of one subject, and who decides', rows: ROWS_AGENTS },
  { title: 'Where no person watches', rows: ROWS_UNATTENDED },
  { title: 'Agents of one tenant', rows: ROWS_TENANT_AGENTS },
  { title: 'The gate inside of an agent', rows: ROWS_LIBRARY },
  { title: 'Hooks on results', rows: ROWS_RESULT_HOOKS },
  { title: 'Late starts, roll-backs, lost files', rows: ROWS_CORE },
  { title: 'Invariants', rows: INVARIANTS },
];
