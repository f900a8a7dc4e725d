import type { ApprovalDecision, ApprovalState } from '../domain/approval.ts';

/** What the API and the command line say to a decision that came second. A second `allow-always` may have asked for another grant. */
export function sayAlreadyDecided(state: ApprovalState, decision?: ApprovalDecision): string {
  const noGrant = decision === 'allow-always' ? ' The first decision stands, and no grant was made.' : '';
  switch (state) {
    case 'pending':
      return `You have already said another yes; only deny can follow it.${noGrant}`;
    case 'expired':
      return 'Nobody decided it in time. Nothing was changed.';
    case 'cancelled':
      return 'Its call was cancelled, or its session ended. Nothing was changed.';
    default:
      return `It was already ${state}; nothing was changed.${noGrant}`;
  }
}
