import type { AuditTrail } from '../domain/ports/audit-store.ts';

const MAX_TRIES = 5;

/**
 * Repeats a check of a trail that found a problem, if another process has added a statement since the check began. Cuts and erasures change
 * records in the same step as they add a statement, so the check may have read partly the old and partly the new state.
 */
export async function untilUnchanged<Result>(
  trail: AuditTrail,
  look: () => Promise<Result>,
  hasProblem: (result: Result) => boolean,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const before = (await trail.lastStatement())?.text;
    const result = await look();
    if (!hasProblem(result) || tries === MAX_TRIES) return result;
    if ((await trail.lastStatement())?.text === before) return result;
  }
}
