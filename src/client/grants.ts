import { isSameSubject } from '../domain/agent.ts';
import type { Grant, GrantId } from '../domain/approval.ts';
import { planeError } from '../domain/errors.ts';
import type { Store } from '../ports/store.ts';
import { encode } from '../wire/message-pack.ts';
import { toViewer, type Approver, type Viewer } from './approver.ts';

/** Remembered answers, for the trusted side. Seen and taken back by operators, by whom they are for, and by who gave them. */
export interface Grants {
  /** Soonest expiry first, revoked and used ones too. */
  list(approver: Approver, options?: { readonly limit?: number }): Promise<Grant[]>;
  /** Calls that are running go on; whatever asks from now on is asked again. */
  revoke(approver: Approver, id: string): Promise<void>;
}

type Needs = Pick<Store, 'listGrants' | 'readGrant' | 'revokeGrant' | 'proveSession' | 'readSession'>;

const DEFAULT_LIMIT = 100;
/** Of these, those that a subject may see are listed. */
const MOST_SEARCHED = 10_000;

export function createGrants(store: Needs): Grants {
  return {
    async list(approver, { limit = DEFAULT_LIMIT } = {}) {
      const viewer = await toViewer(store, approver);
      const isOperator = viewer.principal.kind === 'operator';
      const listed = await store.listGrants({ limit: isOperator ? limit : MOST_SEARCHED });
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
  // What was allowed to one agent of a subject is not shown to another one.
  const isOfOther = identity !== undefined && agent !== undefined && agent !== identity.agent;
  if (isOfOther && isSameSubject(identity, grant)) return false;
  return name === `${tenant}/${subject}` || (by.kind === kind && by.name === name);
}
