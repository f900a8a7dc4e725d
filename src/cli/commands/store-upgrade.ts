import { Command } from 'commander';
import { upgradeStore } from '../../operate/backup-store.ts';
import { action } from '../command-context.ts';
import { commandStoreOptions } from '../with-store.ts';

export function storeUpgradeCommand(): Command {
  return new Command('upgrade')
    .description("Bring the store up to this release's functions and tables, beside those who use it")
    .action(
      action(async (context) => {
        const { terminal } = context;
        const upgrade = await upgradeStore(commandStoreOptions(context.loadConfig()));
        if (terminal.json) return terminal.printJson(upgrade);
        for (const sentence of upgrade.done) terminal.print(sentence);
        terminal.print(upgrade.state === 'upgraded' ? 'Upgraded.' : 'It is up to date.');
      }),
    );
}
