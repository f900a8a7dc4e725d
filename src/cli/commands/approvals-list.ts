import { Command, Option } from 'commander';
import { createApprovals, type ApprovalPage } from '../../client/approvals.ts';
import { approvalRenderer, type ShownApproval } from '../../operate/render-approvals.ts';
import { APPROVAL_STATES, type Approval, type ApprovalState } from '../../domain/policy/approval.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { readCount } from '../read-count.ts';
import { toListedJson } from '../show-approval.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

function toRow({ approval, shown: { title, severity, tool } }: ShownApproval, now: number): string[] {
  const { question, state, expiresAt } = approval;
  const { subject, agent } = question.identity;
  const endsIn = state === 'pending' ? showDuration(expiresAt - now) : '';
  return [question.id, severity, tool, subject, agent, state, endsIn, title];
}

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
          const render = await approvalRenderer(store, config);
          const now = await store.now();
          const toLine = terminal.json
            ? (approval: Approval) => toListedJson(render(approval))
            : (approval: Approval) => toRow(render(approval), now);
          const lines: unknown[] = [];
          let skip: number | undefined = 0;
          // Questions are read page by page, and only the printed facts are kept, because a question may be as long as the arguments of a
          // call.
          while (skip !== undefined && lines.length < limit) {
            const wanted = { limit: limit - lines.length, skip, ...(state === 'all' ? {} : { state }) };
            const page: ApprovalPage = await approvals.page(readApprover(options), wanted);
            lines.push(...page.approvals.map(toLine));
            skip = page.next;
          }
          if (skip !== undefined) terminal.note(`These are the first ${lines.length}. More: --limit ${limit * 2}`);
          if (terminal.json) return terminal.printJson(lines);
          if (lines.length === 0) {
            return terminal.note(state === 'pending' ? 'Nobody is being asked.' : 'There are none.');
          }
          terminal.printTable(
            ['APPROVAL', 'SEVERITY', 'TOOL', 'SUBJECT', 'AGENT', 'STATE', 'ENDS IN', 'TITLE'],
            lines as string[][],
          );
        }),
      ),
    );
}
