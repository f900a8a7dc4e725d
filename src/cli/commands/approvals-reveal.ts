import { Command } from 'commander';
import { createApprovals } from '../../client/approvals.ts';
import { approvalRenderer } from '../../operate/render-approvals.ts';
import type { RevealAnswer } from '../../domain/ports/approval-store.ts';
import { action } from '../command-context.ts';
import { EXIT } from '../exit-codes.ts';
import { findApproval } from '../find-by-end.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { showApproval, toShownJson } from '../show-approval.ts';
import { withStore } from '../with-store.ts';

export function approvalsRevealCommand(): Command {
  return new Command('reveal')
    .description('One question with what is masked in it; the audit keeps that you saw it')
    .argument('<approval>', 'its id, or a start or end of it that means no other')
    .addOption(asOption())
    .action(
      action((context, id: string) =>
        withStore(context, async (store, { config }) => {
          const { terminal, options } = context;
          const approvals = createApprovals(store, config.worker);
          const approver = readApprover(options);
          const { question } = await findApproval(approvals, approver, id);
          const answer = await approvals.reveal(approver, question.id, { binding: question.binding });
          if (answer.kind !== 'revealed') {
            terminal.fail(say(answer), undefined);
            return EXIT.notOk;
          }
          const render = await approvalRenderer(store, config);
          const shown = render(await approvals.get(approver, question.id), { revealed: true });
          if (terminal.json) terminal.printJson(toShownJson(shown));
          else showApproval(terminal, shown, await store.now());
          return EXIT.ok;
        }),
      ),
    );
}

function say(answer: Exclude<RevealAnswer, { readonly kind: 'revealed' }>): string {
  switch (answer.kind) {
    case 'already-decided':
      return `It was already ${answer.state}; nothing is revealed any more.`;
    case 'mismatch':
      return 'The question has changed. Look at it again.';
    case 'not-yours':
      return 'The requester may not reveal it.';
    case 'unknown':
      return 'The approval is gone.';
  }
}
