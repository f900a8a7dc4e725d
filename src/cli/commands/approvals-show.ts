import { Command } from 'commander';
import { createApprovals } from '../../client/approvals.ts';
import { approvalRenderer } from '../../operate/render-approvals.ts';
import { action } from '../command-context.ts';
import { findApproval } from '../find-by-end.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { showApproval, toShownJson } from '../show-approval.ts';
import { withStore } from '../with-store.ts';

export function approvalsShowCommand(): Command {
  return new Command('show')
    .description('One question, and exactly what will run')
    .argument('<approval>', 'its id, or a start or end of it that means no other')
    .addOption(asOption())
    .action(
      action((context, id: string) =>
        withStore(context, async (store, { config }) => {
          const approvals = createApprovals(store, config.worker);
          const approval = await findApproval(approvals, readApprover(context.options), id);
          const shown = (await approvalRenderer(store, config))(approval);
          if (context.terminal.json) context.terminal.printJson(toShownJson(shown));
          else showApproval(context.terminal, shown, await store.now());
        }),
      ),
    );
}
