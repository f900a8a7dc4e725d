/** Sixteen kinds of ending are too many for one chart: these are told apart by who has to look. */
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

/** A kind this console does not know yet is shown as one that somebody should look at. */
export function groupOutcome(kind: string): OutcomeGroup {
  return GROUP_OF.get(kind) ?? 'refused';
}

export function countGroups(byOutcome: Readonly<Record<string, number>>): Record<OutcomeGroup, number> {
  const counts: Record<OutcomeGroup, number> = { ok: 0, failed: 0, refused: 0, stopped: 0, unsure: 0 };
  for (const [kind, count] of Object.entries(byOutcome)) counts[groupOutcome(kind)] += count;
  return counts;
}
