import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { Command } from 'commander';
import { matchesFilter } from '../../domain/audit/match-record.ts';
import { walkTrail } from '../../audit/walk-trail.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';
import { addFilters, filterOf } from '../audit-filters.ts';
import { action } from '../command-context.ts';
import { jsonLine } from '../show-audit.ts';
import { SingleOption } from '../single-option.ts';
import { withTrail } from '../with-trail.ts';

export function auditExportCommand(): Command {
  const command = new Command('export')
    .description('Write records as JSON Lines: lane by lane, each in its order, each record exactly as it was chained')
    .addOption(new SingleOption('--output <file>', 'write to this new file (default: standard output)'));
  return addFilters(command).action(
    action((context) =>
      withTrail(context, async ({ trail }) => {
        const { terminal, options } = context;
        const file = options['output'] as string | undefined;
        // The flag `wx` never overwrites an existing file.
        const stream = file === undefined ? process.stdout : createWriteStream(file, { flags: 'wx', mode: 0o600 });
        if (file !== undefined) await once(stream, 'open');
        const filter = filterOf(context);
        let count = 0;
        for await (const chained of walkTrail(trail)) {
          const record = parseRecord(chained.text);
          if (record !== undefined && !matchesFilter(record, filter)) continue;
          count += 1;
          if (!stream.write(jsonLine(chained, file === undefined && process.stdout.isTTY))) await once(stream, 'drain');
        }
        if (file !== undefined) {
          stream.end();
          await once(stream, 'close');
        }
        terminal.note(`${count} records${file === undefined ? '' : ` in ${file}`}`);
      }),
    ),
  );
}
