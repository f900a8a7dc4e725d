import type { Approval, ApprovalId } from '../../domain/policy/approval.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { standingOf } from '../../gate/approvals/may-decide.ts';
import { formDecisions, readFormAnswer } from './approval-form.ts';
import type { McpCallContext } from './call-context.ts';

type QuestionNeeds = Pick<McpCallContext, 'shared' | 'session' | 'peer'>;

/** A pending approval, and whether the person at this client may decide it. */
export interface OpenQuestion {
  readonly approval: Approval;
  readonly mayDecide: boolean;
}

/**
 * Finds a pending question for the person at the client. The console, the command line and every client decide the same record. Undefined
 * if it was decided, is gone, or has another binding than the one that was shown. The person at the client counts as the session's subject,
 * and may do only what the policy lets the requester do.
 */
export async function findQuestion(
  { shared, session, peer }: QuestionNeeds,
  id: ApprovalId | string,
  binding?: string,
): Promise<OpenQuestion | undefined> {
  const { client, store } = shared.plane;
  try {
    const approval = await client.approvals.get({ kind: 'session', session }, id);
    if (approval.state !== 'pending' || (binding !== undefined && approval.question.binding !== binding))
      return undefined;
    const { tenant = '', subject = '' } = peer.bearer.identity ?? {};
    const { policy } = await store.readPolicy();
    const standing = standingOf(approval.question, { kind: 'subject', name: `${tenant}/${subject}` }, policy);
    return { approval, mayDecide: standing === 'approver' };
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'APPROVAL_UNKNOWN') return undefined;
    throw error;
  }
}

export type Answered = 'done' | 'dismissed' | 'unanswered';

/** Applies the answer of the person at the client, as far as that person may decide. */
export async function applyAnswer(
  { shared, session }: QuestionNeeds,
  callId: string,
  { approval, mayDecide }: OpenQuestion,
  answer: unknown,
): Promise<Answered> {
  const { client } = shared.plane;
  const { id, binding } = approval.question;
  const said = readFormAnswer(answer, mayDecide, formDecisions(approval.question));
  if (said.kind === 'none') return 'unanswered';
  if (said.kind === 'dismissed') return 'dismissed';
  if (said.kind === 'call-off') await client.cancel(session, callId);
  // The answer to `decide` is ignored: another approver may have been first, and the call itself shows the result.
  if (said.kind === 'decided') {
    const { decision, comment } = said;
    const full = { decision, binding, ...(comment === undefined ? {} : { comment }) };
    await client.approvals.decide({ kind: 'session', session }, id, full);
  }
  return 'done';
}
