import { Command, Option } from 'commander';
import type { AuditFilter } from '../../domain/audit/audit-record.ts';
import { matchesFilter } from '../../domain/audit/match-record.ts';
import { showRecord } from '../../domain/audit/show-record.ts';
import { endOfTrail, walkTrail } from '../../audit/walk-trail.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';
import { addFilters, filterOf } from '../audit-filters.ts';
import { action, type CommandContext } from '../command-context.ts';
import { filterUntilNow } from '../filter-until-now.ts';
import { onInterrupt } from '../on-interrupt.ts';
import { readCount } from '../read-count.ts';
import { jsonLine, printRecords } from '../show-audit.ts';
import { SingleOption } from '../single-option.ts';
import { warnOfStrays } from '../warn-of-strays.ts';
import { withTrail, type OpenTrail } from '../with-trail.ts';
import { pause } from '../../base/pause.ts';

const DEFAULT_LIMIT = 20;
const LOOK_EVERY_MS = 300;

export function auditTailCommand(): Command {
  const command = new Command('tail')
    .description('The last records, and with --follow those to come')
    .addOption(new SingleOption('--limit <count>', `how many at first (default: ${DEFAULT_LIMIT})`, readCount))
    .addOption(new Option('--follow', 'go on until Ctrl-C; with --json one line per record'));
  return addFilters(command).action(action((context) => withTrail(context, (open) => tail(context, open))));
}

async function tail(context: CommandContext, { trail, store }: OpenTrail): Promise<void> {
  const { terminal, options } = context;
  const given = filterOf(context);
  const readFilter = (): Promise<AuditFilter> => filterUntilNow(given, store);
  const follows = options['follow'] === true;
  // Read the end of the trail before the query, so that no record is missed. A record
  // written between the two is found by both; `seen` drops the duplicate.
  const places = await endOfTrail(trail);
  const limit = (options['limit'] as number | undefined) ?? DEFAULT_LIMIT;
  const page = await trail.queryTrail({ filter: await readFilter(), limit });
  const last = page.records.toReversed();
  warnOfStrays(terminal, page);
  if (terminal.json && follows) for (const each of last) terminal.printRaw(jsonLine(each, process.stdout.isTTY));
  else if (terminal.json) terminal.printJson(last.map(showRecord));
  else if (last.length > 0 || follows) printRecords(terminal, last);
  else terminal.note('There is no record yet.');
  if (!follows) return;
  const seen = new Set(last.map(({ text }) => text));
  let stopped = false;
  const interrupted = onInterrupt().then(() => (stopped = true));
  while (!stopped) {
    const filter = await readFilter();
    for await (const chained of walkTrail(trail, places)) {
      const record = parseRecord(chained.text);
      if (seen.delete(chained.text) || record === undefined || !matchesFilter(record, filter)) continue;
      if (terminal.json) terminal.printRaw(jsonLine(chained, process.stdout.isTTY));
      else printRecords(terminal, [chained], false);
    }
    await Promise.race([interrupted, pause(LOOK_EVERY_MS)]);
  }
}
