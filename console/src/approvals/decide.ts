import { api, apiPath, Problem } from '../api.ts';
import type { ApprovalView, DecideAnswerView, DecideBody, ListedApprovalView } from '../api-types.ts';

/** A person's decision before it is bound to the question that the person saw. */
export type DecideOptions = Omit<DecideBody, 'binding'>;

export interface DecideResult {
  readonly isDone: boolean;
  readonly text: string;
  /** What the gateway found wrong with a form. Each problem begins with the place of its field: `0.at: expected …`. */
  readonly problems?: readonly string[];
}

/**
 * Sends one decision for one question, bound to what was shown. A refusal, or a missing answer of the gateway, is returned as a result and
 * not thrown.
 */
export async function decide(approval: ApprovalView, options: DecideOptions): Promise<DecideResult> {
  const body: DecideBody = { ...options, binding: approval.binding };
  try {
    const answer = await api.post<DecideAnswerView>(apiPath`/v1/approvals/${approval.id}/decide`, body);
    return { isDone: true, text: sayAnswer(answer) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error.body.facts?.['problems'];
    const text = `${error.message} (${error.code})`;
    return { isDone: false, text, ...(Array.isArray(problems) ? { problems: problems.map(String) } : {}) };
  }
}

/** Reads the question without marks. Before it answers, the gateway writes to the audit who saw it. */
export async function reveal(approval: ApprovalView): Promise<ApprovalView> {
  return api.post<ApprovalView>(apiPath`/v1/approvals/${approval.id}/reveal`, { binding: approval.binding });
}

function sayAnswer({ state, missing, grant }: DecideAnswerView): string {
  if (state === 'pending') return `Counted. ${missing ?? 1} more must say yes.`;
  if (grant !== undefined) return 'Allowed, and remembered as a grant.';
  return { allowed: 'Allowed.', denied: 'Denied.', expired: 'Too late.', cancelled: 'It was withdrawn.' }[state];
}

/**
 * Whether a list contains the complete question. A question that was cut for a list has no binding, so it can be decided only on its own
 * page.
 */
export function isWhole(approval: ListedApprovalView): approval is ApprovalView {
  return approval.binding !== undefined;
}

/** Why this person cannot decide the question now. Undefined if they can. */
export function whyNot(approval: ListedApprovalView, now: number): string | undefined {
  if (approval.state !== 'pending') return `It is ${approval.state}.`;
  if (approval.expiresAt <= now) return 'Time is up.';
  if (!approval.mayDecide) return 'You may look at it, but not decide it.';
  return undefined;
}
