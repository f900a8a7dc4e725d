import { countNoun } from '../base/count-noun.ts';
import type { ShownApproval } from '../operate/render-approvals.ts';
import type { Principal } from '../domain/policy/approval.ts';
import type { RenderedQuestion } from '../gate/approvals/render-question.ts';
import { PREVIEW_CHARACTERS, previewOf } from '../base/preview-text.ts';
import { showDuration } from './duration.ts';
import { asTyped } from './own-command.ts';
import type { Terminal } from './terminal.ts';

/**
 * The JSON of an approval. It contains only those parts of the arguments that may be shown. The salt and the digests of changed arguments
 * are left out, because guesses of a masked value could be tested against them.
 */
export function toShownJson({ approval, shown, edited }: ShownApproval): unknown {
  const { editedArguments: _, ...rest } = approval;
  const { salt: _salt, changedBy, ...question } = approval.question;
  const { answers } = shown;
  return {
    ...rest,
    question: {
      ...question,
      ...(changedBy === undefined ? {} : { changedBy: changedBy.map(({ hook, at }) => ({ hook, at })) }),
      arguments: shown.arguments,
      ...(answers === undefined ? {} : { answers }),
    },
    ...(edited === undefined ? {} : { editedArguments: edited }),
  };
}

/**
 * The JSON of an approval in a list. Long arguments are cut to their beginning. A cut question has no detail and no binding, so it cannot
 * be used for a decision on arguments that the approver has not fully seen.
 */
export function toListedJson(shown: ShownApproval): unknown {
  const whole = toShownJson({
    ...shown,
    shown: {
      ...shown.shown,
      arguments: preview(shown.shown.arguments),
      ...(shown.shown.answers === undefined ? {} : { answers: preview(shown.shown.answers) }),
    },
    ...(shown.edited === undefined ? {} : { edited: preview(shown.edited) }),
  }) as { readonly question: { readonly binding: string; readonly detail?: string } };
  const { arguments: args, answers, detail = '' } = shown.shown;
  const isWhole = [args.text, answers?.text ?? '', detail].every((text) => text.length <= PREVIEW_CHARACTERS);
  if (isWhole) return whole;
  const { binding: _binding, detail: _detail, ...question } = whole.question;
  return { ...whole, question };
}

function preview(args: RenderedQuestion['arguments']): RenderedQuestion['arguments'] & { readonly cut?: number } {
  const { text, cut } = previewOf(args.text);
  return cut === 0 ? args : { ...args, text, cut };
}

/** Prints everything that an approver has to know, one fact per line, and then the arguments that will run. */
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
    ['revealed', approval.revealedBy.length === 0 ? undefined : `by ${approval.revealedBy.map(nameOf).join(', ')}`],
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
  if (shown.answers !== undefined) showArguments(terminal, 'Answers the caller brings along', shown.answers);
  if (edited !== undefined) showArguments(terminal, 'Allowed instead', edited);
  if (state === 'pending' && shown.masked > 0) terminal.print(howToReveal(question.id));
  terminal.print(`Binding: ${shown.binding}`, 'bold');
}

function fact(name: string, value: string): [{ text: string; style: 'dim' }, string] {
  return [{ text: name, style: 'dim' }, value];
}

function showArguments(
  terminal: Terminal,
  what: string,
  { text, bytes, redacted }: RenderedQuestion['arguments'],
): void {
  const hidden = redacted === 0 ? '' : `, ${countNoun(redacted, 'part')} masked`;
  terminal.print(`${what} (${bytes} bytes${hidden}):`, 'bold');
  terminal.print(text);
}

export function howToReveal(id: string): string {
  return asTyped(`Part of it is masked. Before you allow it, see it all: sallyport approvals reveal ${id}`);
}

export function nameOf({ kind, name }: Principal): string {
  return kind === 'operator' ? `operator ${name}` : name;
}
