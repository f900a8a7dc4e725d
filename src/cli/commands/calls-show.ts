import { Command } from 'commander';
import { action } from '../command-context.ts';
import { findCallId } from '../find-by-end.ts';
import { readCallFacts } from '../read-call-facts.ts';
import { showCall, toCallJson } from '../show-call.ts';
import { withStore } from '../with-store.ts';

export function callsShowCommand(): Command {
  return new Command('show')
    .description('How one call stands, with its arguments and its result')
    .argument('<call>', 'its id, or an end of it that means no other')
    .action(
      action((context, id: string) =>
        withStore(context, async (store, { config }) => {
          const facts = await readCallFacts(store, config, await findCallId(store, config, id));
          if (context.terminal.json) context.terminal.printJson(toCallJson(facts));
          else showCall(context.terminal, facts, await store.now());
        }),
      ),
    );
}
