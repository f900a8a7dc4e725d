import type { Approval } from '../domain/approval.ts';
import type { Policy } from '../domain/policy.ts';
import { onlyOperatorsDecide } from '../gate/approvals/only-operators.ts';
import type { ApprovalStore } from '../ports/approval-store.ts';
import type { Check } from './check.ts';

const MOST_READ = 1000;
/** Very long questions: only the first of them are looked at. */
const MAX_BYTES = 32 * 1024 * 1024;
const HOW_TO_DECIDE = 'sallyport approvals list';

/** Who waits for a person, since when, and whether anybody hears of it. */
export async function inspectApprovals(
  store: Pick<ApprovalStore, 'listApprovals' | 'listApprovalStates'>,
  policy: Policy,
  isWebhookSet: boolean,
): Promise<Check> {
  const { length: count } = await store.listApprovalStates({ state: 'pending', limit: MOST_READ });
  const pending = await store.listApprovals({ state: 'pending', limit: MOST_READ, maxBytes: MAX_BYTES });
  const [oldest] = pending.toSorted((one, other) => one.requestedAt - other.requestedAt);
  if (oldest === undefined) return { name: 'approvals', state: 'ok', found: 'nobody is being asked' };
  const found = describePending(count, oldest);
  const unseen = isWebhookSet ? 0 : pending.filter(({ question }) => onlyOperatorsDecide(question, policy)).length;
  if (unseen === 0) return { name: 'approvals', state: 'ok', found, fix: HOW_TO_DECIDE };
  return {
    name: 'approvals',
    state: 'warn',
    found: `${found}; ${unseen} of them only operators can decide, and nobody is told`,
    fix: `${HOW_TO_DECIDE}; name approvers in the rule or the policy, or set approvals.webhook`,
  };
}

function describePending(count: number, { question, requestedAt }: Approval): string {
  const many = count < MOST_READ ? String(count) : `${count} or more`;
  return `${many} pending, the oldest since ${new Date(requestedAt).toISOString()}: ${question.id}`;
}
