import { Command } from 'commander';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { readCount } from '../read-count.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function callsListCommand(): Command {
  return new Command('list')
    .description('Calls that are not settled, soonest deadline first')
    .addOption(new SingleOption('--limit <count>', 'how many at most (default: 50)', readCount))
    .action(
      action((context) =>
        withStore(context, async (store) => {
          const limit = (context.options['limit'] as number | undefined) ?? 50;
          const [calls, now] = [await store.listCalls({ limit }), await store.now()];
          if (context.terminal.json) return context.terminal.printJson(calls);
          if (calls.length === 0) return context.terminal.note('No call is under way.');
          context.terminal.printTable(
            ['CALL', 'TOOL', 'STATE', 'SUBJECT', 'AGENT', 'AGE', 'ENDS IN'],
            calls.map((call) => [
              call.callId,
              call.tool,
              call.cancelRequested ? `${call.state}, cancelling` : call.state,
              call.identity.subject,
              call.identity.agent,
              showDuration(now - call.acceptedAt),
              showDuration(call.deadline - now),
            ]),
          );
        }),
      ),
    );
}
