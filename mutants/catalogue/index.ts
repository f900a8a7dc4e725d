import type { Mutant } from '../mutant.ts';
import { SHOWN_IS_RUN } from './shown.ts';
import { ACCEPT } from './accept.ts';
import { AGENTS } from './agents.ts';
import { BYTES } from './bytes.ts';
import { CORE } from './core.ts';
import { AUDIT_ROLES } from './audit-roles.ts';
import { ADMINISTRATION } from './administration.ts';
import { AFTER_A_LOOP } from './after-a-loop.ts';
import { LOOPS } from './loops.ts';
import { EDGES } from './edges.ts';
import { UPSTREAMS } from './upstreams.ts';
import { FRONT } from './front.ts';
import { LEASE } from './lease.ts';
import { LIBRARY } from './library.ts';
import { OWED } from './owed.ts';
import { PERMISSION } from './permission.ts';
import { PLANE } from './plane.ts';
import { RESULT_HOOKS } from './result-hooks.ts';
import { REVOKED } from './revoked.ts';
import { ROWS_RUNNING } from './rows-running.ts';
import { ROWS_GATE } from './rows-gate.ts';
import { ROWS_SELECTION } from './rows-selection.ts';
import { ROWS_BEYOND } from './rows-beyond.ts';
import { SETTLE } from './settle.ts';
import { SETUP } from './setup.ts';
import { SHARES } from './shares.ts';
import { STATEMENTS } from './statements.ts';
import { TENANT_AGENTS, UNATTENDED } from './unattended.ts';

/** All known bugs, in the order in which they are planted. */
export const MUTANTS: readonly Mutant[] = [
  ...ACCEPT,
  ...LEASE,
  ...SETTLE,
  ...PERMISSION,
  ...PLANE,
  ...ROWS_RUNNING,
  ...ROWS_GATE,
  ...ROWS_SELECTION,
  ...ROWS_BEYOND,
  ...STATEMENTS,
  ...SHOWN_IS_RUN,
  ...BYTES,
  ...OWED,
  ...AUDIT_ROLES,
  ...ADMINISTRATION,
  ...SETUP,
  ...FRONT,
  ...AFTER_A_LOOP,
  ...LOOPS,
  ...REVOKED,
  ...SHARES,
  ...AGENTS,
  ...UNATTENDED,
  ...TENANT_AGENTS,
  ...LIBRARY,
  ...RESULT_HOOKS,
  ...CORE,
  ...EDGES,
  ...UPSTREAMS,
];
