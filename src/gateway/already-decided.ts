import type { ApprovalDecision, ApprovalState } from '../domain/policy/approval.ts';

/**
 * The message of the API and the command line for a decision on a question that was already decided. A late `allow-always` may have asked
 * for a different grant, so the message also says that no grant was made.
 */
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
