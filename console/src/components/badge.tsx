import type { ComponentChildren, VNode } from 'preact';
import type { ApprovalState, CallRow, OutcomeKind, Severity } from '../api-types.ts';
import { groupOutcome, type OutcomeGroup } from '../charts/outcome-groups.ts';

export type Tone = 'neutral' | 'good' | 'info' | 'warning' | 'bad';

/** A word with a colour. The word alone carries the whole meaning. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }): VNode {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

const SEVERITY_TONE: Readonly<Record<Severity, Tone>> = { info: 'info', warning: 'warning', critical: 'bad' };

export function SeverityBadge({ severity }: { readonly severity: Severity }): VNode {
  return <Badge tone={SEVERITY_TONE[severity] ?? 'neutral'}>{severity}</Badge>;
}

const GROUP_TONE: Readonly<Record<OutcomeGroup, Tone>> = {
  ok: 'good',
  refused: 'warning',
  stopped: 'warning',
  failed: 'bad',
  unsure: 'bad',
};

export function OutcomeBadge({ outcome }: { readonly outcome: OutcomeKind }): VNode {
  return <Badge tone={GROUP_TONE[groupOutcome(outcome)]}>{outcome}</Badge>;
}

const STATE_TONE: Readonly<Record<CallRow['state'] | ApprovalState, Tone>> = {
  queued: 'neutral',
  running: 'info',
  parked: 'warning',
  settled: 'neutral',
  pending: 'warning',
  allowed: 'good',
  denied: 'bad',
  expired: 'neutral',
  cancelled: 'neutral',
};

export function StateBadge({ state }: { readonly state: CallRow['state'] | ApprovalState }): VNode {
  return <Badge tone={STATE_TONE[state] ?? 'neutral'}>{state}</Badge>;
}
