import type { OutcomeKind } from '../api-types.ts';

/** Groups of outcome kinds for charts and colours, by who has to act on them. A chart cannot show every kind separately. */
export const CHART_GROUPS = ['ok', 'failed', 'refused', 'stopped', 'unsure'] as const;
export type OutcomeGroup = (typeof CHART_GROUPS)[number];

export const GROUP_TITLES: Readonly<Record<OutcomeGroup, string>> = {
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  stopped: 'cancelled or expired',
  unsure: 'may have run',
};

/** `refused` has the same meaning as in the filter of calls, so that all pages count it in the same way. */
const GROUP_OF_KIND: Readonly<Record<OutcomeKind, OutcomeGroup>> = {
  ok: 'ok',
  denied: 'refused',
  blocked: 'refused',
  cancelled: 'stopped',
  expired: 'stopped',
  indeterminate: 'unsure',
  failed: 'failed',
  exception: 'failed',
  invalid: 'failed',
  'unknown-tool': 'failed',
  stale: 'failed',
  unauthenticated: 'failed',
  conflict: 'failed',
  overloaded: 'failed',
  'timed-out': 'failed',
  crashed: 'failed',
};

/** The group of an outcome kind. A kind that this console does not know yet counts as failed, so that people look at it. */
export function groupOutcome(kind: string): OutcomeGroup {
  return Object.hasOwn(GROUP_OF_KIND, kind) ? GROUP_OF_KIND[kind as OutcomeKind] : 'failed';
}

export function countGroups(byOutcome: Readonly<Record<string, number>>): Record<OutcomeGroup, number> {
  const counts: Record<OutcomeGroup, number> = { ok: 0, failed: 0, refused: 0, stopped: 0, unsure: 0 };
  for (const [kind, count] of Object.entries(byOutcome)) counts[groupOutcome(kind)] += count;
  return counts;
}
