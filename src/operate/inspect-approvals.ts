import type { Approval } from '../domain/policy/approval.ts';
import { onlyOperatorsDecide } from '../gate/approvals/only-operators.ts';
import type { ApprovalList } from '../domain/ports/approval-store.ts';
import type { LaneUseReader } from '../domain/ports/call-store.ts';
import type { PolicyReader } from '../domain/ports/policy-store.ts';
import type { Check } from './check.ts';

const MAX_READ = 1000;
/** Max bytes of questions that are read. If questions are very long, only the first of them are checked. */
const MAX_BYTES = 32 * 1024 * 1024;
const HOW_TO_DECIDE = 'sallyport approvals list';

/**
 * Reports how many approvals are pending, since when, and whether any approver is
 * notified. A Redis user that may not read questions gets only their number.
 */
export async function inspectApprovals(
  store: LaneUseReader & ApprovalList & PolicyReader,
  { isWebhookSet, mayRead }: { readonly isWebhookSet: boolean; readonly mayRead: boolean },
): Promise<Check[]> {
  const count = (await store.laneUse()).reduce((sum, { pendingApprovals }) => sum + pendingApprovals, 0);
  const name = 'approvals';
  if (count === 0) return [{ name, state: 'ok', found: 'nobody is being asked' }];
  if (!mayRead) {
    const found = `${count} pending; this user may not see which, nor whether anybody is told`;
    return [{ name, state: 'ok', found, fix: `as an operator: ${HOW_TO_DECIDE}` }];
  }
  const pending = await store.listApprovals({ state: 'pending', limit: MAX_READ, maxBytes: MAX_BYTES });
  const [oldest] = pending.toSorted((one, other) => one.requestedAt - other.requestedAt);
  if (oldest === undefined) return [{ name, state: 'ok', found: `${count} pending`, fix: HOW_TO_DECIDE }];
  const found = describePending(count, oldest);
  const { policy } = await store.readPolicy();
  const unseen = isWebhookSet ? 0 : pending.filter(({ question }) => onlyOperatorsDecide(question, policy)).length;
  if (unseen === 0) return [{ name, state: 'ok', found, fix: HOW_TO_DECIDE }];
  const check: Check = {
    name,
    state: 'warn',
    found: `${found}; ${unseen} of them only operators can decide, and nobody is told`,
    fix: `${HOW_TO_DECIDE}; name approvers in the rule or the policy, or set approvals.webhook`,
  };
  return [check];
}

function describePending(count: number, { question, requestedAt }: Approval): string {
  return `${count} pending, the oldest since ${new Date(requestedAt).toISOString()}: ${question.id}`;
}
