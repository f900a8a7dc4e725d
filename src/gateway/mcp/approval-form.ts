import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { Approval, ApprovalDecision, ApprovalQuestion } from '../../domain/policy/approval.ts';
import { isJsonObject } from '../../base/json.ts';
import { masksOf, renderQuestion, type RenderedArguments } from '../../gate/approvals/render-question.ts';

const WAIT = 'wait';
const TITLES: Readonly<Record<ApprovalDecision | typeof WAIT, string>> = {
  'allow-once': 'Allow it once',
  'allow-always': 'Always allow it',
  deny: 'Deny it',
  wait: 'Decide it elsewhere, and wait here',
};

/**
 * Builds the form that the person at a client sees. A person who may not decide learns that another person decides, and can wait or cancel
 * the call. A form cannot reveal masked values. So for a question with masks it does not offer to allow the call, and names the places
 * where the question can be revealed and allowed.
 */
export function approvalForm({ question }: Approval, mayDecide: boolean): ElicitRequestFormParams {
  const shown = renderQuestion(question);
  const { arguments: args, answers, masked } = shown;
  const lines = [
    mayDecide
      ? `${shown.title}: may this run?`
      : `${shown.title}: it waits for somebody else to approve it. Accept to go on waiting, decline to call it off.`,
    ...(shown.description === '' ? [] : [shown.description]),
    ...shown.reasons.map((reason) => `- ${reason}`),
    `Tool: ${shown.tool} (${shown.severity})`,
    `Arguments (${sizeOf(args)}):`,
    args.text,
    ...(answers === undefined ? [] : [`Answers (${sizeOf(answers)}):`, answers.text]),
    ...(mayDecide && masked > 0 ? [howToReveal(question.id)] : []),
  ];
  return {
    mode: 'form',
    message: lines.join('\n'),
    requestedSchema: mayDecide ? decisionSchema(question) : NOTHING,
  };
}

function sizeOf({ bytes, digest }: RenderedArguments): string {
  return digest === undefined ? `${bytes} bytes` : `${bytes} bytes, SHA-256 ${digest}`;
}

function howToReveal(id: string): string {
  const page = `/console/approvals/${encodeURIComponent(id)}`;
  return `Part of it is masked, so it cannot be allowed here. Reveal and decide it in the console (${page}) or with: sallyport approvals reveal ${id}`;
}

const NOTHING: ElicitRequestFormParams['requestedSchema'] = { type: 'object', properties: {} };

function decisionSchema(question: ApprovalQuestion): ElicitRequestFormParams['requestedSchema'] {
  return {
    type: 'object',
    properties: {
      decision: {
        type: 'string',
        title: 'Decision',
        oneOf: formDecisions(question).map((decision) => ({ const: decision, title: TITLES[decision] })),
      },
      comment: { type: 'string', title: 'Comment', description: 'Told to the model when you deny it.', maxLength: 512 },
    },
    required: ['decision'],
  };
}

/** The decisions that a form offers: all decisions of the question, or only `deny` and `wait` while something is masked. */
export function formDecisions(question: ApprovalQuestion): readonly (ApprovalDecision | typeof WAIT)[] {
  return masksOf(question).length === 0 ? question.decisions : ['deny', WAIT];
}

export type FormAnswer =
  | { readonly kind: 'decided'; readonly decision: ApprovalDecision; readonly comment?: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'call-off' }
  /** The person closed the form without an answer. */
  | { readonly kind: 'dismissed' }
  /** Not an answer to this question, so the question is asked again. */
  | { readonly kind: 'none' };

/** A decision must be explicit: anything other than exactly one of the offered decisions is not an answer. */
export function readFormAnswer(answer: unknown, mayDecide: boolean, decisions: readonly string[]): FormAnswer {
  if (!isJsonObject(answer)) return { kind: 'none' };
  const { action, content } = answer;
  if (action === 'cancel') return { kind: 'dismissed' };
  if (action === 'decline') return mayDecide ? { kind: 'decided', decision: 'deny' } : { kind: 'call-off' };
  if (action !== 'accept') return { kind: 'none' };
  if (!mayDecide) return { kind: 'wait' };
  const { decision, comment } = isJsonObject(content) ? content : {};
  if (typeof decision !== 'string' || !decisions.includes(decision)) return { kind: 'none' };
  if (decision === WAIT) return { kind: 'wait' };
  const said = typeof comment === 'string' && comment !== '' ? { comment } : {};
  return { kind: 'decided', decision: decision as ApprovalDecision, ...said };
}
