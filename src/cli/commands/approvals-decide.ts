import { Argument, Command, Option } from 'commander';
import { createApprovals } from '../../client/approvals.ts';
import { approvalRenderer } from '../../operate/render-approvals.ts';
import type { Decision } from '../../client/decide-request.ts';
import {
  APPROVAL_DECISIONS,
  APPROVAL_LIMITS,
  type Approval,
  type ApprovalDecision,
} from '../../domain/policy/approval.ts';
import type { GrantOptions } from '../../gate/approvals/grants.ts';
import { sayAlreadyDecided } from '../../gateway/already-decided.ts';
import { finishRevocations } from '../../gateway/finish-revocations.ts';
import { SILENT } from '../../observe/log.ts';
import type { DecideAnswer } from '../../domain/ports/approval-store.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { confirm, isAtTerminal } from '../confirm.ts';
import { readDuration, showDuration } from '../duration.ts';
import { EXIT } from '../exit-codes.ts';
import { followEdit, type EditResult } from '../follow-edit.ts';
import { findApproval } from '../find-by-end.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { readCallArguments } from '../read-call-arguments.ts';
import { readCount } from '../read-count.ts';
import { howToReveal, nameOf, showApproval } from '../show-approval.ts';
import { SingleOption } from '../single-option.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

const DEFAULT_GRANT = showDuration(APPROVAL_LIMITS.defaultGrantMs);

export function approvalsDecideCommand(): Command {
  return new Command('decide')
    .description('Answer a question; the first answer wins')
    .argument('<approval>', 'its id, or a start or end of it that means no other')
    .addArgument(new Argument('<decision>', 'your answer').choices(APPROVAL_DECISIONS))
    .addOption(new SingleOption('--binding <hex>', 'as approvals show prints it; needed unless you sit at a terminal'))
    .addOption(new SingleOption('--comment <text>', 'goes into the audit, and with a deny to the model'))
    .addOption(new SingleOption('--arguments <json>', 'run these instead: JSON, @FILE or @-'))
    .addOption(
      new SingleOption(
        '--lifetime <duration>',
        `of the grant of allow-always (default: ${DEFAULT_GRANT})`,
        readDuration,
      ),
    )
    .addOption(new SingleOption('--uses <count>', 'how often the grant may be used (default: any number)', readCount))
    .addOption(new Option('--any-arguments', 'the grant is for whatever the arguments are'))
    .addOption(new Option('--any-agent', 'the grant is for every agent of the subject'))
    .addOption(asOption())
    .action(
      action((context, id: string, decision: ApprovalDecision) =>
        withStore(context, async (store, { config }) => {
          const approvals = createApprovals(store, config.worker);
          const approver = readApprover(context.options);
          const requested = await readDecision(context, decision);
          const approval = await findApproval(approvals, approver, id);
          const show = async (): Promise<void> => {
            const render = await approvalRenderer(store, config);
            const revealed = approval.revealedBy.some((by) => nameOf(by) === nameOf(approver));
            showApproval(context.terminal, render(approval, { revealed }), await store.now());
          };
          const binding = await chooseBinding(context, show, approval, decision);
          if (binding === undefined) return EXIT.notOk;
          // Finish interrupted revocations first: a question of a session that is being revoked must not be allowed.
          await finishRevocations(store, SILENT);
          const answer = await approvals.decide(approver, approval.question.id, { ...requested, binding });
          const isEdited = requested.arguments !== undefined && answer.kind === 'decided';
          const { callId, id: decided } = approval.question;
          const edit = isEdited ? await followEdit(store, { callId, decided }) : undefined;
          return reportDecision(context, approval, { decision, answer, edit });
        }),
      ),
    );
}

async function readDecision(
  { options }: CommandContext,
  decision: ApprovalDecision,
): Promise<Omit<Decision, 'binding'>> {
  const [comment, given] = [options['comment'] as string | undefined, options['arguments'] as string | undefined];
  const grant = readGrantOptions(options);
  if (grant !== undefined && decision !== 'allow-always') throw usage('Only allow-always makes a grant.');
  if (given !== undefined && decision === 'deny') throw usage('What is denied does not run, with no arguments at all.');
  return {
    decision,
    ...(comment === undefined ? {} : { comment }),
    ...(given === undefined ? {} : { arguments: await readCallArguments(given) }),
    ...(grant === undefined ? {} : { grant }),
  };
}

function readGrantOptions(options: Readonly<Record<string, unknown>>): GrantOptions | undefined {
  const [lifetimeMs, uses] = [options['lifetime'] as number | undefined, options['uses'] as number | undefined];
  const grantOptions: GrantOptions = {
    ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
    ...(uses === undefined ? {} : { uses }),
    ...(options['anyArguments'] === true ? { arguments: 'any' } : {}),
    ...(options['anyAgent'] === true ? { anyAgent: true } : {}),
  };
  return Object.keys(grantOptions).length === 0 ? undefined : grantOptions;
}

/**
 * Makes sure that the approver saw what they decide on. Either `--binding` names it, or the question is printed here and the approver
 * confirms. Undefined: the approver did not confirm.
 */
async function chooseBinding(
  { terminal, options }: CommandContext,
  show: () => Promise<void>,
  approval: Approval,
  decision: ApprovalDecision,
): Promise<string | undefined> {
  const binding = options['binding'] as string | undefined;
  if (binding !== undefined) return binding.toLowerCase();
  if (!isAtTerminal() || terminal.json) {
    throw usage(
      'Name what you decide on: --binding',
      'sallyport approvals show prints it in its last line, below everything it stands for.',
    );
  }
  await show();
  if (await confirm(`${decision}?`)) return approval.question.binding;
  terminal.note('Nothing was decided.');
  return undefined;
}

interface DecisionReport {
  readonly decision: ApprovalDecision;
  readonly answer: DecideAnswer;
  readonly edit: EditResult | undefined;
}

function reportDecision(
  { terminal }: CommandContext,
  { question }: Approval,
  { decision, answer, edit }: DecisionReport,
): number {
  const isDone = answer.kind === 'decided' || answer.kind === 'counted';
  // If the call does not run with the edited arguments, the line about the decision is left out, because it would read as if the call did.
  const isUnused = edit?.kind === 'refused' || edit?.kind === 'asked-again';
  if (terminal.json)
    terminal.printJson({ approval: question.id, ...answer, ...(edit === undefined ? {} : { arguments: edit }) });
  else {
    const text = say(answer, question.id, decision);
    if (!isDone) terminal.fail(text, undefined);
    else if (!isUnused) terminal.print(text);
    if (edit !== undefined) showEdit(terminal, question.callId, edit);
    if (isUnused && answer.kind === 'decided' && answer.grant !== undefined) terminal.note(`Grant ${answer.grant}`);
  }
  return isDone && !isUnused ? EXIT.ok : EXIT.notOk;
}

/** Prints what became of the edited arguments. */
function showEdit(terminal: Terminal, callId: string, edit: EditResult): void {
  switch (edit.kind) {
    case 'used':
      return terminal.print('The call runs with these arguments.');
    case 'open':
      return terminal.note(`No worker has taken the call yet. What becomes of it: sallyport calls wait ${callId}`);
    case 'refused':
      return terminal.fail(
        `Your answer counts, but the call ended without running (${edit.code}): ${edit.message}`,
        undefined,
      );
    case 'asked-again':
      return terminal.fail(
        'The call does not run yet: its tool makes something else of these arguments, and that is asked about.',
        `sallyport approvals show ${edit.approval}`,
      );
  }
}

function say(answer: DecideAnswer, id: string, decision: ApprovalDecision): string {
  switch (answer.kind) {
    case 'decided':
      return `Decided: ${answer.state}.${answer.grant === undefined ? '' : ` Grant ${answer.grant}`}`;
    case 'counted':
      return `Counted. ${answer.missing} more must say yes.`;
    case 'already-decided':
      return sayAlreadyDecided(answer.state, decision);
    case 'mismatch':
      return 'The binding is not that of this question; nothing was decided. Look at it again.';
    case 'not-offered':
      return `That is not offered here. Offered: ${answer.decisions.join(', ')}; edits only where one approver is enough.`;
    case 'not-yours':
      return 'Who asked may not decide.';
    case 'not-revealed':
      return `Nothing was decided. ${howToReveal(id)}`;
    case 'unknown':
      return 'The approval is gone.';
  }
}
