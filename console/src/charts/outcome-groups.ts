import { REFUSALS } from '../../../src/domain/call/call-filter.ts';

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
  ...REFUSALS.map((kind) => [kind, 'refused'] as const),
  ['cancelled', 'stopped'],
  ['expired', 'stopped'],
  ['indeterminate', 'unsure'],
]);

/**
 * The group of an outcome kind. Kinds that are not listed count as failed, also kinds that this console does not know yet, so that people
 * look at them. `refused` has the same meaning as in the filter of calls, so that all pages count alike.
 * @internal
 */
export function groupOutcome(kind: string): OutcomeGroup {
  return GROUP_OF.get(kind) ?? 'failed';
}

export function countGroups(byOutcome: Readonly<Record<string, number>>): Record<OutcomeGroup, number> {
  const counts: Record<OutcomeGroup, number> = { ok: 0, failed: 0, refused: 0, stopped: 0, unsure: 0 };
  for (const [kind, count] of Object.entries(byOutcome)) counts[groupOutcome(kind)] += count;
  return counts;
}
