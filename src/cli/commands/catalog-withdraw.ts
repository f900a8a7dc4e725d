import { countNoun } from '../../base/count-noun.ts';
import { Command, Option } from 'commander';
import { withdrawModules, type Withdrawal } from '../../operate/withdraw-modules.ts';
import { entriesOf } from '../../domain/tool/module.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { withStore } from '../with-store.ts';

export function catalogWithdrawCommand(): Command {
  return new Command('withdraw')
    .description('Take modules out of the catalog that no live worker serves')
    .argument('[modules...]', 'ids of modules')
    .addOption(new Option('--unserved', 'all modules that no live worker serves'))
    .addOption(new Option('--force', 'also if a live worker serves them; it publishes them again at its next start'))
    .addOption(commentOption())
    .action(action(withdraw));
}

async function withdraw(context: CommandContext, names: readonly string[]): Promise<void> {
  const { terminal } = context;
  const { unserved = false, force = false } = context.options as { unserved?: boolean; force?: boolean };
  if (unserved === names.length > 0) {
    throw usage(
      unserved ? '--unserved takes no names.' : 'Which modules?',
      'Name them, or give --unserved. See: sallyport catalog',
    );
  }
  await withStore(context, async (store) => {
    const request = { modules: unserved ? ('unserved' as const) : names, force };
    const withdrawal = await withdrawModules(store, request, administeredBy(context));
    if (terminal.json) {
      const { sequence, broken } = withdrawal;
      return terminal.printJson({ sequence, withdrawn: withdrawal.withdrawn.map(({ id }) => id), broken });
    }
    print(context, withdrawal);
  });
}

function print({ terminal }: CommandContext, { withdrawn, broken }: Withdrawal): void {
  for (const id of broken) terminal.warn(`${id} stays published: a live worker has it and could not load it`);
  if (withdrawn.length === 0) return terminal.note('Nothing had to be withdrawn.');
  for (const module of withdrawn) {
    const count = entriesOf(module).length;
    terminal.print(`Withdrawn: ${module.id} ${module.version}, ${countNoun(count, 'tool')}`);
  }
}
