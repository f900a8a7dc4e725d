import {
  APPROVAL_LIMITS,
  type ApprovalDecision,
  type ApprovalQuestion,
  type NewGrant,
  type Principal,
} from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { argumentsDigest, bindingOf } from '../gate/approvals/binding.ts';
import { cutText } from '../gate/approvals/cut-text.ts';
import { endingOutcome } from '../gate/approvals/endings.ts';
import { makeGrant, type GrantOptions } from '../gate/approvals/grants.ts';
import type { DecideRequest } from '../domain/ports/approval-store.ts';
import { checkArguments } from '../domain/call/check-arguments.ts';
import { newGrantId } from '../domain/identity/new-id.ts';
import { encode } from '../base/message-pack.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';

export interface Decision {
  readonly decision: ApprovalDecision;
  /** The binding of the question that was shown. A different binding decides nothing. */
  readonly binding: string;
  /** Written to the audit. If the decision is `deny`, the model reads it too. */
  readonly comment?: string;
  /** Arguments to run instead. They are validated, gated and hashed before anything runs. */
  readonly arguments?: JsonObject;
  /** The scope and limits of the grant; only with `allow-always`. */
  readonly grant?: GrantOptions;
}

/** Min time that a call has left to run after it was allowed, even if its deadline is nearer. */
const MIN_DEADLINE_MS = 60_000;

export function decideRequest(
  question: ApprovalQuestion,
  by: Principal,
  { decision, binding, comment: said, arguments: edited, grant: grantOptions }: Decision,
  retentionMs: number,
): DecideRequest {
  const comment = said === undefined ? undefined : cutText(said, APPROVAL_LIMITS.commentLength);
  const editedArguments = edited === undefined ? undefined : canonicalOf(edited);
  if (grantOptions !== undefined && decision !== 'allow-always') {
    throw planeError('APPROVAL_INVALID', { problem: 'only allow-always makes a grant' });
  }
  const grant =
    decision === 'allow-always'
      ? makeGrant(newGrantId(question.id), question, grantOptions, editedArguments)
      : undefined;
  const facts = { tool: question.tool, ...(comment === undefined ? {} : { comment }) };
  return {
    id: question.id,
    binding,
    decision,
    by,
    deadlineMs: MIN_DEADLINE_MS,
    denied: encodeOutcome(endingOutcome('deny', facts)!),
    deniedMayHaveRun: encodeOutcome(endingOutcome('deny', facts, { mayHaveRun: true })!),
    audit: encode({
      approval: question.id,
      binding,
      decision,
      by: `${by.kind} ${by.name}`,
      comment: comment ?? null,
      editedDigest: editedArguments === undefined ? null : argumentsDigest(editedArguments),
      grant: grant === undefined ? null : { ...grant, matches: auditedMatches(grant.matches, grantOptions) },
    }),
    retentionMs,
    ...(comment === undefined ? {} : { comment }),
    ...(editedArguments === undefined
      ? {}
      : { editedArguments, editedBinding: bindingOf({ ...question, arguments: editedArguments }) }),
    ...(grant === undefined ? {} : { grant }),
  };
}

/** What the audit says about the arguments of a grant: a condition may hold a secret of a question that was revealed. */
function auditedMatches(matches: NewGrant['matches'], given: GrantOptions | undefined): JsonObject {
  if (matches.kind !== 'conditions') return { ...matches };
  const shown = typeof given?.arguments === 'object' ? given.arguments.shown : undefined;
  return { kind: matches.kind, ...(shown === undefined ? {} : { conditions: [...shown] }) };
}

function canonicalOf(edited: JsonObject): string {
  const checked = checkArguments(edited);
  if (checked.ok) return checked.canonical;
  const problem =
    checked.code === 'ENVELOPE_INVALID'
      ? checked.facts.problem
      : `the arguments have ${checked.facts.is} ${checked.facts.what}, the limit is ${checked.facts.limit}`;
  throw planeError('APPROVAL_INVALID', { problem });
}
