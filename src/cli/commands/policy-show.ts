import { Command } from 'commander';
import { action } from '../command-context.ts';
import { toSafeJson } from '../../base/escape-text.ts';
import { withStore } from '../with-store.ts';

export function policyShowCommand(): Command {
  return new Command('show').description('The policy in force; without --json ready to be edited and set again').action(
    action((context) =>
      withStore(context, async (store) => {
        const { terminal } = context;
        const record = await store.readPolicy();
        if (terminal.json) return terminal.printJson(record);
        terminal.print(toSafeJson(record.policy));
        const closed = record.version === 0 ? ' Nobody has set one yet: every tool is closed.' : '';
        terminal.note(
          `Version ${record.version}.${closed} To change it: sallyport policy set FILE --expect ${record.version}`,
        );
      }),
    ),
  );
}
