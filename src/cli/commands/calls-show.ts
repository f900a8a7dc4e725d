import { Command } from 'commander';
import { action } from '../command-context.ts';
import { readKnownCall } from '../read-known-call.ts';
import { showCall, toShownCall } from '../show-call.ts';
import { withStore } from '../with-store.ts';

export function callsShowCommand(): Command {
  return new Command('show')
    .description('How one call stands')
    .argument('<call>', 'its id')
    .action(
      action((context, id: string) =>
        withStore(context, async (store) => {
          const call = toShownCall(await readKnownCall(store, id));
          if (context.terminal.json) context.terminal.printJson(call);
          else showCall(context.terminal, call, await store.now());
        }),
      ),
    );
}
