import { Command } from 'commander';
import { createGrants } from '../../client/grants.ts';
import { action } from '../command-context.ts';
import { asOption, readApprover } from '../read-approver.ts';
import { withStore } from '../with-store.ts';

export function grantsRevokeCommand(): Command {
  return new Command('revoke')
    .description('Take a remembered answer back')
    .argument('<grant>', 'its id')
    .addOption(asOption())
    .action(
      action((context, id: string) =>
        withStore(context, async (store) => {
          await createGrants(store).revoke(readApprover(context.options), id);
          if (context.terminal.json) context.terminal.printJson({ grant: id, revoked: true });
          else context.terminal.print('Revoked. The next call of this kind is asked about again.');
        }),
      ),
    );
}
