import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { Approval, ApprovalDecision } from '../../domain/approval.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { renderQuestion, type Redact } from '../../gate/approvals/render-question.ts';
import { findMasked } from '../../redact/create-redactor.ts';
import { newRedactionKey } from '../../redact/redaction-key.ts';
import { toVisibleJsonString } from '../../wire/escape-text.ts';

/** Marks in what is shown here are compared with nothing. */
const KEY = newRedactionKey();
const TITLES: Readonly<Record<ApprovalDecision, string>> = {
  'allow-once': 'Allow it once',
  'allow-always': 'Always allow it',
  deny: 'Deny it',
};

/** What the person at a client is asked. Who may not decide is told who does, and can wait or call it off. */
export function approvalForm(
  { question }: Approval,
  mayDecide: boolean,
  inputSchema: JsonObject,
): ElicitRequestFormParams {
  const shown = renderQuestion(question, maskedIn(question.arguments, inputSchema));
  const lines = [
    mayDecide
      ? `${shown.title}: may this run?`
      : `${shown.title}: it waits for somebody else to approve it. Accept to go on waiting, decline to call it off.`,
    ...(shown.description === '' ? [] : [shown.description]),
    ...shown.reasons.map((reason) => `- ${reason}`),
    `Tool: ${shown.tool} (${shown.severity})`,
    `Arguments (${shown.arguments.bytes} bytes, SHA-256 ${shown.arguments.digest}):`,
    shown.arguments.text,
  ];
  return {
    mode: 'form',
    message: lines.join('\n'),
    requestedSchema: mayDecide ? decisionSchema(question.decisions) : NOTHING,
  };
}

const NOTHING: ElicitRequestFormParams['requestedSchema'] = { type: 'object', properties: {} };

function decisionSchema(decisions: readonly ApprovalDecision[]): ElicitRequestFormParams['requestedSchema'] {
  return {
    type: 'object',
    properties: {
      decision: {
        type: 'string',
        title: 'Decision',
        oneOf: decisions.map((decision) => ({ const: decision, title: TITLES[decision] })),
      },
      comment: { type: 'string', title: 'Comment', description: 'Told to the model when you deny it.', maxLength: 512 },
    },
    required: ['decision'],
  };
}

export type FormAnswer =
  | { readonly kind: 'decided'; readonly decision: ApprovalDecision; readonly comment?: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'call-off' }
  /** Closed without an answer. */
  | { readonly kind: 'dismissed' }
  /** Not an answer to this question: it is asked again. */
  | { readonly kind: 'none' };

/** A yes has to be said: whatever is not exactly one of the decisions offered is no answer. */
export function readFormAnswer(answer: unknown, mayDecide: boolean, decisions: readonly string[]): FormAnswer {
  if (!isJsonObject(answer)) return { kind: 'none' };
  const { action, content } = answer;
  if (action === 'cancel') return { kind: 'dismissed' };
  if (action === 'decline') return mayDecide ? { kind: 'decided', decision: 'deny' } : { kind: 'call-off' };
  if (action !== 'accept') return { kind: 'none' };
  if (!mayDecide) return { kind: 'wait' };
  const { decision, comment } = isJsonObject(content) ? content : {};
  if (typeof decision !== 'string' || !decisions.includes(decision)) return { kind: 'none' };
  const said = typeof comment === 'string' && comment !== '' ? { comment } : {};
  return { kind: 'decided', decision: decision as ApprovalDecision, ...said };
}

function maskedIn(canonical: string, inputSchema: JsonObject): Redact {
  const masked = new Map(
    findMasked(canonical, { inputSchema }, KEY)
      .filter(({ kind }) => kind !== 'key')
      .map((one) => [one.pointer, one]),
  );
  return (pointer) => {
    const found = masked.get(pointer);
    if (found === undefined) return false;
    return found.kind === 'text' ? toVisibleJsonString(found.shown) : true;
  };
}
