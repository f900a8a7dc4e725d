import { Command, Option } from 'commander';
import { createApprovals } from '../../client/approvals.ts';
import { approvalRenderer } from '../../compose/render-approvals.ts';
import { APPROVAL_STATES, type ApprovalState } from '../../domain/approval.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { readCount } from '../read-count.ts';
import { toListedJson } from '../show-approval.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function approvalsListCommand(): Command {
  return new Command('list')
    .description('Questions that wait for a person, soonest expiry first')
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .addOption(new Option('--state <state>', 'those in another state').choices([...APPROVAL_STATES, 'all']))
    .addOption(asOption())
    .action(
      action((context) =>
        withStore(context, async (store, { config }) => {
          const { terminal, options } = context;
          const limit = (options['limit'] as number | undefined) ?? 50;
          const state = (options['state'] as ApprovalState | 'all' | undefined) ?? 'pending';
          const approvals = createApprovals(store, config.worker);
          const wanted = state === 'all' ? { limit } : { state, limit };
          const listed = await approvals.list(readApprover(options), wanted);
          const render = await approvalRenderer(store, config);
          const shown = listed.map((approval) => render(approval));
          if (terminal.json) return terminal.printJson(shown.map(toListedJson));
          if (shown.length === 0) {
            return terminal.note(state === 'pending' ? 'Nobody is being asked.' : 'There are none.');
          }
          const now = await store.now();
          terminal.printTable(
            ['APPROVAL', 'SEVERITY', 'TOOL', 'SUBJECT', 'AGENT', 'STATE', 'ENDS IN', 'TITLE'],
            shown.map(({ approval, shown: { title, severity, tool } }) => [
              approval.question.id,
              severity,
              tool,
              approval.question.identity.subject,
              approval.question.identity.agent,
              approval.state,
              approval.state === 'pending' ? showDuration(approval.expiresAt - now) : '',
              title,
            ]),
          );
        }),
      ),
    );
}
