import { Command, Option } from 'commander';
import { AUDIT_LIMITS } from '../../domain/audit-record.ts';
import { matchesFilter } from '../../wire/match-record.ts';
import { showRecord } from '../../wire/show-record.ts';
import { endOfTrail, walkTrail } from '../../audit/walk-trail.ts';
import type { AuditTrail } from '../../ports/audit-store.ts';
import { parseRecord } from '../../wire/audit-record.ts';
import { addFilters, filterOf } from '../audit-filters.ts';
import { action, type CommandContext } from '../command-context.ts';
import { onInterrupt } from '../on-interrupt.ts';
import { readCount } from '../read-count.ts';
import { jsonLine, printRecords } from '../show-audit.ts';
import { SingleOption } from '../single-option.ts';
import { warnOfStrays } from '../warn-of-strays.ts';
import { withTrail } from '../with-trail.ts';

const DEFAULT_LIMIT = 20;
const LOOK_EVERY_MS = 300;

export function auditTailCommand(): Command {
  const command = new Command('tail')
    .description('The last records, and with --follow those to come')
    .addOption(new SingleOption('--limit <count>', `how many at first (default: ${DEFAULT_LIMIT})`, readCount))
    .addOption(new Option('--follow', 'go on until Ctrl-C; with --json one line per record'));
  return addFilters(command).action(action((context) => withTrail(context, ({ trail }) => tail(context, trail))));
}

async function tail(context: CommandContext, trail: AuditTrail): Promise<void> {
  const { terminal, options } = context;
  // A role can append a record of any time: those of the future would cover the last ones.
  const filter = { to: Date.now() + AUDIT_LIMITS.aheadMs, ...filterOf(context) };
  const follows = options['follow'] === true;
  // Before the query: what is written in between is shown twice at worst, and never not at all.
  const places = await endOfTrail(trail);
  const limit = (options['limit'] as number | undefined) ?? DEFAULT_LIMIT;
  const page = await trail.queryTrail({ filter, limit });
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
    for await (const chained of walkTrail(trail, places)) {
      const record = parseRecord(chained.text);
      if (seen.delete(chained.text) || record === undefined || !matchesFilter(record, filter)) continue;
      if (terminal.json) terminal.printRaw(jsonLine(chained, process.stdout.isTTY));
      else printRecords(terminal, [chained], false);
    }
    await Promise.race([interrupted, new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))]);
  }
}
