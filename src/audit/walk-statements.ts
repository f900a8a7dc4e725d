import type { PlacedStatement } from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';

const AT_ONCE = 500;

/**
 * All statements after a number, in their order. Without a number, all statements; those of releases that did not number them come first.
 */
export async function* walkStatements(trail: AuditTrail, after?: number): AsyncGenerator<PlacedStatement, void> {
  let last = after;
  for (;;) {
    const page = await trail.listStatements({ ...(last === undefined ? {} : { after: last }), limit: AT_ONCE });
    yield* page;
    if (page.length < AT_ONCE) return;
    last = page.at(-1)!.number;
  }
}
