import { AUDIT_LIMITS, type AuditFilter } from '../domain/audit/audit-record.ts';
import type { StoreTime } from '../domain/ports/store.ts';

/**
 * Adds an end to a filter that has none: the current time plus `aheadMs`. A process with a Redis role can append records with a time in the
 * future, which would fill the page and hide the latest genuine records. The current time is read from the store on each poll, because
 * `audit tail --follow` runs for days.
 */
export async function filterUntilNow(given: AuditFilter, store: StoreTime | undefined): Promise<AuditFilter> {
  const now = store === undefined ? Date.now() : await store.now();
  return { to: now + AUDIT_LIMITS.aheadMs, ...given };
}
