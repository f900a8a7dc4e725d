import { redactionKeyFor } from '../compose/redaction-key-for.ts';
import { storeOptionsOf } from '../compose/settings-from-config.ts';
import type { Config } from '../config/config-schema.ts';
import type { Approval, Principal } from '../domain/approval.ts';
import type { JsonObject } from '../domain/json.ts';
import { entriesOf } from '../domain/module.ts';
import {
  renderArguments,
  renderQuestion,
  type Redact,
  type RenderedQuestion,
} from '../gate/approvals/render-question.ts';
import { findMasked } from '../redact/create-redactor.ts';
import type { RedactionKey } from '../redact/redaction-key.ts';
import type { Store } from '../ports/store.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { toVisibleJsonString } from '../wire/escape-text.ts';
import { showDuration } from './duration.ts';
import type { Terminal } from './terminal.ts';

/** How questions are to be shown: what the published tool calls a secret is hidden, and what is one by its name or shape. */
export async function approvalRenderer(
  store: Pick<Store, 'readCatalog'>,
  config: Config,
): Promise<(approval: Approval) => ShownApproval> {
  const key = redactionKeyFor(storeOptionsOf(config), config.redaction.keyFile);
  const tools = (await store.readCatalog()).modules.flatMap(entriesOf);
  const schemas = new Map<string, JsonObject>(tools.map(({ id, inputSchema }) => [id, inputSchema]));
  return (approval) => {
    const { question, editedArguments } = approval;
    const inputSchema = schemas.get(question.tool) ?? {};
    const redact = (canonical: string): Redact => maskedIn(canonical, { inputSchema }, key);
    return {
      approval,
      shown: renderQuestion(question, redact(question.arguments)),
      ...(editedArguments === undefined ? {} : { edited: renderArguments(editedArguments, redact(editedArguments)) }),
    };
  };
}

/** A whole value is shown as its mark and its size, without quotes, so that no text can pass for one. */
function maskedIn(canonical: string, tool: { readonly inputSchema: JsonObject }, key: RedactionKey): Redact {
  const masked = new Map(
    findMasked(canonical, tool, key)
      .filter(({ kind }) => kind !== 'key')
      .map((one) => [one.pointer, one]),
  );
  return (pointer, value) => {
    const found = masked.get(pointer);
    if (found === undefined) return false;
    if (found.kind === 'text') return toVisibleJsonString(found.shown);
    return `${found.shown.slice(0, -1)}, ${Buffer.byteLength(canonicalJson(value))} bytes]`;
  };
}

export interface ShownApproval {
  readonly approval: Approval;
  readonly shown: RenderedQuestion;
  readonly edited?: RenderedQuestion['arguments'];
}

/** For a program: everything, but of the arguments only what may be shown. */
export function toShownJson({ approval, shown, edited }: ShownApproval): unknown {
  const { editedArguments: _, ...rest } = approval;
  return {
    ...rest,
    question: { ...approval.question, arguments: shown.arguments },
    ...(edited === undefined ? {} : { editedArguments: edited }),
  };
}

/** Everything an approver has to know, a fact per line; then what will run. */
export function showApproval(terminal: Terminal, { approval, shown, edited }: ShownApproval, now: number): void {
  const { question, state } = approval;
  const at = (time: number): string => {
    const ago = now - time;
    return `${new Date(time).toISOString()} (${ago >= 0 ? `${showDuration(ago)} ago` : `in ${showDuration(-ago)}`})`;
  };
  terminal.print(shown.title, 'bold');
  if (shown.description !== '') terminal.print(shown.description);
  const facts: [string, string | undefined][] = [
    ['approval', question.id],
    ['state', state === 'pending' && approval.expiresAt <= now ? 'pending, and too late' : state],
    ['severity', shown.severity],
    ['tool', shown.tool],
    ['requester', shown.requester],
    ['call', question.callId],
    ['asked', at(approval.requestedAt)],
    ['expires', state === 'pending' ? at(approval.expiresAt) : undefined],
    ['resolved', approval.resolvedAt === undefined ? undefined : `${approval.resolution}, ${at(approval.resolvedAt)}`],
    ['needs', shown.quorum === 1 ? undefined : `${shown.quorum} approvers; ${approval.votes.length} so far`],
    ['decisions', shown.decisions.join(', ')],
    ['grant', approval.grant],
    ['callback', approval.callback === 'none' ? undefined : approval.callback],
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [fact(name, value)]));
  const reasons = shown.reasons.map((reason) => fact('because', reason));
  const votes = approval.votes.map(({ by, decision, comment }) =>
    fact('said', `${decision} by ${nameOf(by)}${comment === undefined ? '' : `: ${comment}`}`),
  );
  terminal.printTable(undefined, [...rows, ...reasons, ...votes]);
  if (shown.detail !== undefined) terminal.print(shown.detail);
  showArguments(terminal, state === 'pending' ? 'Will run with' : 'Asked about', shown.arguments);
  if (edited !== undefined) showArguments(terminal, 'Allowed instead', edited);
  terminal.print(`Digest: ${shown.binding}`, 'bold');
}

function fact(name: string, value: string): [{ text: string; style: 'dim' }, string] {
  return [{ text: name, style: 'dim' }, value];
}

function showArguments(
  terminal: Terminal,
  what: string,
  { text, bytes, redacted }: RenderedQuestion['arguments'],
): void {
  const hidden = redacted === 0 ? '' : `, ${redacted} of its values not shown`;
  terminal.print(`${what} (${bytes} bytes${hidden}):`, 'bold');
  terminal.print(text);
}

export function nameOf({ kind, name }: Principal): string {
  return kind === 'operator' ? `operator ${name}` : name;
}
