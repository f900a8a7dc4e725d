import { Command } from 'commander';
import { createApprovals } from '../../client/approvals.ts';
import { approvalRenderer } from '../../operate/render-approvals.ts';
import { action } from '../command-context.ts';
import { readDuration } from '../duration.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../on-interrupt.ts';
import { findApproval } from '../find-by-end.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { nameOf, toShownJson } from '../show-approval.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function approvalsWaitCommand(): Command {
  return new Command('wait')
    .description('Wait until somebody has decided')
    .argument('<approval>', 'its id, or a start or end of it that means no other')
    .addOption(new SingleOption('--wait <duration>', 'how long (default: until it ends)', readDuration))
    .addOption(asOption())
    .action(
      action((context, id: string) =>
        withStore(context, async (store, { config }) => {
          const { terminal, options } = context;
          const waitMs = (options['wait'] as number | undefined) ?? Number.POSITIVE_INFINITY;
          const [approvals, approver] = [createApprovals(store, config.worker), readApprover(options)];
          const { question, state } = await findApproval(approvals, approver, id);
          const stop = new AbortController();
          void onInterrupt().then(() => stop.abort());
          if (state === 'pending') terminal.note('Waiting for a decision. Ctrl-C ends the wait, not the question.');
          const waiting = { waitMs, signal: stop.signal };
          const approval = await approvals.wait(approver, question.id, waiting);
          if (terminal.json) terminal.printJson(toShownJson((await approvalRenderer(store, config))(approval)));
          else if (approval.state === 'pending') terminal.note(`${approval.question.id} is still pending.`);
          else {
            const by = approval.votes.at(-1)?.by;
            terminal.print(`${approval.state}${by === undefined ? '' : ` by ${nameOf(by)}`}`);
          }
          return approval.state === 'allowed' ? EXIT.ok : EXIT.notOk;
        }),
      ),
    );
}
