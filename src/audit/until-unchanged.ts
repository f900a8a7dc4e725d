import type { AuditTrail } from '../ports/audit-store.ts';

const MAX_TRIES = 5;

/**
 * Repeats a look at a trail that found something wrong while another process was at work. Cuts and erasures change records in one step
 * with a new statement: if there is one since the look began, what was found may be half of before and half of after.
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
