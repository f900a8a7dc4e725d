import { Command } from 'commander';
import { showRecord } from '../../domain/audit/show-record.ts';
import { addFilters, filterOf } from '../audit-filters.ts';
import { action } from '../command-context.ts';
import { readCount } from '../read-count.ts';
import { printRecords } from '../show-audit.ts';
import { SingleOption } from '../single-option.ts';
import { warnOfStrays } from '../warn-of-strays.ts';
import { withTrail } from '../with-trail.ts';

const DEFAULT_LIMIT = 100;

export function auditQueryCommand(): Command {
  const command = new Command('query')
    .description('Records by time, who, what and how it ended; the newest are shown last')
    .addOption(new SingleOption('--limit <count>', `how many at most (default: ${DEFAULT_LIMIT})`, readCount));
  return addFilters(command).action(
    action((context) =>
      withTrail(context, async ({ trail }) => {
        const { terminal, options } = context;
        const limit = (options['limit'] as number | undefined) ?? DEFAULT_LIMIT;
        const page = await trail.queryTrail({ filter: filterOf(context), limit });
        const found = page.records.toReversed();
        warnOfStrays(terminal, page);
        if (terminal.json) return terminal.printJson(found.map(showRecord));
        if (found.length === 0) return terminal.note('No record is like that.');
        printRecords(terminal, found);
        if (found.length === limit) terminal.note(`There may be more; these are the last ${limit}.`);
      }),
    ),
  );
}
