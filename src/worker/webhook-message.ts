import type { Approval, ApprovalQuestion } from '../domain/policy/approval.ts';
import type { JsonObject } from '../base/json.ts';
import { argumentsDigest } from '../gate/approvals/binding.ts';
import { masksOf } from '../gate/approvals/render-question.ts';
import { escapeHidden } from '../base/escape-text.ts';

/** The message to the operator's webhook: who asks, and digests of what would run. It never has an argument, the `detail` or a token. */
export function requestedMessage(question: ApprovalQuestion, expiresAt: number): JsonObject {
  return {
    event: 'approval.requested',
    ...factsOf(question),
    reasons: question.reasons.map((reason) => escapeHidden(reason)),
    // Approvers can deny through the receiver. To allow, an approver has to reveal the question where it is shown in full.
    ...(masksOf(question).length === 0 ? {} : { masked: true, reveal: `sallyport approvals reveal ${question.id}` }),
    expiresAt,
  };
}

export function resolvedMessage({ question, resolution, resolvedAt, votes }: Approval): JsonObject {
  const by = votes.at(-1)?.by;
  const isDecided = resolution !== 'timeout' && resolution !== 'cancelled';
  return {
    event: 'approval.resolved',
    ...factsOf(question),
    resolution: resolution ?? 'cancelled',
    ...(isDecided && by !== undefined ? { by: `${by.kind} ${escapeHidden(by.name)}` } : {}),
    ...(resolvedAt === undefined ? {} : { resolvedAt }),
  };
}

function factsOf(question: ApprovalQuestion) {
  const { id, callId, tool, identity, severity, title, arguments: canonical, binding } = question;
  return {
    approvalId: id,
    callId,
    tool,
    agent: identity.agent,
    subject: `${identity.tenant}/${identity.subject}`,
    severity,
    title: escapeHidden(title),
    // Left out if there are masks: a short secret could be found by trying digests.
    ...(masksOf(question).length === 0 ? { argumentsDigest: argumentsDigest(canonical) } : {}),
    binding,
  };
}
