import { AUDIT_LIMITS, type AuditFilter } from '../domain/audit-record.ts';
import type { Store } from '../ports/store.ts';

/**
 * A role can append records with a time in the future. They would fill the page, and hide the last genuine ones. The store is asked at every
 * look: `audit tail --follow` goes on for days.
 */
export async function filterUntilNow(given: AuditFilter, store: Pick<Store, 'now'> | undefined): Promise<AuditFilter> {
  const now = store === undefined ? Date.now() : await store.now();
  return { to: now + AUDIT_LIMITS.aheadMs, ...given };
}
