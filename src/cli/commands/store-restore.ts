import { resolve } from 'node:path';
import { Command } from 'commander';
import { restoreStore } from '../../operate/backup-store.ts';
import { storeOptionsOf } from '../../operate/store-options.ts';
import { asTyped } from '../own-command.ts';
import { action } from '../command-context.ts';
import { passwordOf } from '../with-store.ts';

export function storeRestoreCommand(): Command {
  return new Command('restore')
    .description('Bring a backup back into an empty store; nobody can use it before it is adopted')
    .argument('<folder>', 'that sallyport store backup made')
    .action(
      action(async (context, folder: string) => {
        const { terminal } = context;
        const { config } = context.loadConfig();
        const manifest = await restoreStore(storeOptionsOf(config, { password: passwordOf(config) }), {
          folder: resolve(folder),
          onProgress: (text) => (terminal.interactive ? terminal.showProgress(text) : undefined),
        });
        if (terminal.interactive) terminal.showProgress('');
        if (terminal.json) terminal.printJson({ restored: manifest });
        else {
          terminal.print(`Restored and verified: the store as it was at ${manifest.madeAt}.`);
          terminal.print(asTyped('Nobody can use it yet. See what is lost, and take it: sallyport store adopt'));
        }
      }),
    );
}
