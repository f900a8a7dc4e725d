/** Groups of outcomes. Sixteen kinds are too many for one chart, so they are grouped by who has to look at them. */
export const OUTCOME_GROUPS = ['ok', 'failed', 'refused', 'stopped', 'unsure'] as const;
export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];

export const GROUP_TITLES: Readonly<Record<OutcomeGroup, string>> = {
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  stopped: 'cancelled or expired',
  unsure: 'may have run',
};

const GROUP_OF = new Map<string, OutcomeGroup>([
  ['ok', 'ok'],
  ['failed', 'failed'],
  ['exception', 'failed'],
  ['timed-out', 'failed'],
  ['crashed', 'failed'],
  ['cancelled', 'stopped'],
  ['expired', 'stopped'],
  ['indeterminate', 'unsure'],
]);

/**
 * The group of an outcome kind. Kinds that are not listed count as refused, also kinds that this console does not know yet, so that people
 * look at them.
 */
export function groupOutcome(kind: string): OutcomeGroup {
  return GROUP_OF.get(kind) ?? 'refused';
}

export function countGroups(byOutcome: Readonly<Record<string, number>>): Record<OutcomeGroup, number> {
  const counts: Record<OutcomeGroup, number> = { ok: 0, failed: 0, refused: 0, stopped: 0, unsure: 0 };
  for (const [kind, count] of Object.entries(byOutcome)) counts[groupOutcome(kind)] += count;
  return counts;
}
