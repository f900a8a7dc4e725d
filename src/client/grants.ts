import { isSameSubject } from '../domain/identity/agent.ts';
import type { Grant, GrantId } from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { GrantDesk } from '../domain/ports/approval-store.ts';
import type { SessionProof, SessionReader } from '../domain/ports/session-store.ts';
import { encode } from '../base/message-pack.ts';
import { toViewer, type Approver, type Viewer } from './approver.ts';

/**
 * Remembered approvals (grants), for the trusted side. Three can see and revoke a grant: operators, the subject it is for, and the
 * principal that gave it.
 */
export interface Grants {
  /** Lists grants by soonest expiry first, including revoked and used ones. */
  list(approver: Approver, options?: { readonly limit?: number }): Promise<Grant[]>;
  /** Running calls continue. A later call that would have used the grant asks for approval again. */
  revoke(approver: Approver, id: string): Promise<void>;
}

type Needs = GrantDesk & SessionProof & SessionReader;

const DEFAULT_LIMIT = 100;
/** Max stored grants that a subject's list reads to find those that the subject may see. */
const MAX_SEARCHED = 10_000;

export function createGrants(store: Needs): Grants {
  return {
    async list(approver, { limit = DEFAULT_LIMIT } = {}) {
      const viewer = await toViewer(store, approver);
      const isOperator = viewer.principal.kind === 'operator';
      const listed = await store.listGrants({ limit: isOperator ? limit : MAX_SEARCHED });
      return listed.filter((grant) => concerns(grant, viewer)).slice(0, limit);
    },
    async revoke(approver, asked) {
      const viewer = await toViewer(store, approver);
      const { principal } = viewer;
      const grant = await store.readGrant(asked as GrantId);
      const isTheirs = grant !== undefined && concerns(grant, viewer);
      const audit = encode({ by: `${principal.kind} ${principal.name}` });
      if (!isTheirs || (await store.revokeGrant({ id: grant.id, audit })) === 'unknown') {
        throw planeError('GRANT_UNKNOWN', { grant: asked.slice(0, 64) });
      }
    },
  };
}

function concerns(grant: Grant, { principal: { kind, name }, identity }: Viewer): boolean {
  const { tenant, subject, agent, by } = grant;
  if (kind === 'operator') return true;
  // A grant for one agent of a subject is not shown to another agent of that subject.
  const isOfOther = identity !== undefined && agent !== undefined && agent !== identity.agent;
  if (isOfOther && isSameSubject(identity, grant)) return false;
  return name === `${tenant}/${subject}` || (by.kind === kind && by.name === name);
}
