import { countNoun } from '../../base/count-noun.ts';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { matchesFilter } from '../../domain/audit/match-record.ts';
import { walkTrail } from '../../audit/walk-trail.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';
import { addFilters, filterOf } from '../audit-filters.ts';
import { action } from '../command-context.ts';
import { fillNewFile } from '../open-new-file.ts';
import { refuseLostOutput } from '../refuse-lost-output.ts';
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
        const filter = filterOf(context);
        if (file === undefined) refuseLostOutput('The export', 'Write it to a file: --output FILE');
        let count = 0;
        async function* lines(): AsyncGenerator<string> {
          for await (const chained of walkTrail(trail)) {
            const record = parseRecord(chained.text);
            if (record !== undefined && !matchesFilter(record, filter)) continue;
            count += 1;
            yield jsonLine(chained, file === undefined && process.stdout.isTTY);
          }
        }
        if (file === undefined) await pipeline(lines, process.stdout, { end: false });
        else await fillNewFile(file, (fd) => pipeline(lines, createWriteStream(file, { fd })));
        terminal.note(`${countNoun(count, 'record')}${file === undefined ? '' : ` in ${file}`}`);
      }),
    ),
  );
}
