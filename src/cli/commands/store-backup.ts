import { countNoun } from '../../base/count-noun.ts';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { backupStore } from '../../operate/backup-store.ts';
import { action } from '../command-context.ts';
import { readDuration } from '../duration.ts';
import { SingleOption } from '../single-option.ts';
import { commandStoreOptions, refuseMissingStore } from '../with-store.ts';

const DEFAULT_PAUSE_MS = 4000;
const MAX_PAUSE_MS = 10_000;

export function storeBackupCommand(): Command {
  return new Command('backup')
    .description('Copy the store, while it is used, into a new folder')
    .argument('<folder>', 'where to; it must not be there yet')
    .addOption(
      new SingleOption(
        '--pause <duration>',
        'Redis: how long writers may stand still for one lane (default: 4s, at most 10s)',
        readPause,
      ),
    )
    .action(
      action(async (context, folder: string) => {
        const { terminal } = context;
        const store = commandStoreOptions(context.loadConfig());
        await refuseMissingStore(store);
        const manifest = await backupStore(store, {
          folder: resolve(folder),
          pauseMs: (context.options['pause'] as number | undefined) ?? DEFAULT_PAUSE_MS,
          onProgress: (text) => (terminal.interactive ? terminal.showProgress(text) : undefined),
        });
        if (terminal.interactive) terminal.showProgress('');
        if (terminal.json) terminal.printJson({ folder: resolve(folder), ...manifest });
        else {
          const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
          terminal.print(
            `Copied and verified: ${bytes} bytes in ${countNoun(manifest.files.length, 'file')}, in ${folder}`,
          );
          terminal.note('It holds arguments and outcomes in clear. Keep it like the store itself.');
        }
      }),
    );
}

function readPause(text: string): number {
  const ms = readDuration(text);
  if (ms > 0 && ms <= MAX_PAUSE_MS) return ms;
  throw new InvalidArgumentError('Expected a duration of at most 10s.');
}
