import { Command } from 'commander';
import { upgradeStore } from '../../compose/backup-store.ts';
import { action } from '../command-context.ts';
import { commandStoreOptions } from '../with-store.ts';

export function storeUpgradeCommand(): Command {
  return new Command('upgrade')
    .description("Bring the store up to this release's functions and tables, beside those who use it")
    .action(
      action(async (context) => {
        const { terminal } = context;
        const state = await upgradeStore(commandStoreOptions(context.loadConfig()));
        if (terminal.json) terminal.printJson({ state });
        else terminal.print(state === 'upgraded' ? 'Upgraded.' : 'It is up to date.');
      }),
    );
}
