import { Command, Option } from 'commander';
import { acceptOffer } from '../../operate/upstream-pins.ts';
import { EFFECTS, type Effect } from '../../domain/tool/tool.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function upstreamsAcceptCommand(): Command {
  return new Command('accept')
    .description('Accept what an MCP server offers now: only accepted definitions are served without a question')
    .argument('<upstream>', 'its id')
    .argument('[definitions...]', 'keys as upstreams show prints them, such as "tool read_file"')
    .addOption(new Option('--all', 'everything that it offers; what it no longer offers is dropped'))
    .addOption(
      new Option('--effect <key=effect>', `effect of a definition: ${EFFECTS.join(', ')}; may be repeated`).argParser(
        collectEffects,
      ),
    )
    .addOption(new SingleOption('--offer <mark>', 'only if this is still what it offers, as upstreams show prints it'))
    .addOption(commentOption())
    .action(action(accept));
}

async function accept(context: CommandContext, id: string, keys: readonly string[]): Promise<void> {
  const { terminal, options } = context;
  const all = options['all'] === true;
  if (all === keys.length > 0)
    throw usage(
      all ? '--all takes no names.' : 'Which definitions?',
      `Name them, or give --all. See: sallyport upstreams show ${id}`,
    );
  const effects = options['effect'] as Record<string, Effect> | undefined;
  await withStore(context, async (store) => {
    const choice = { ...(all ? { all } : { keys }), ...(effects === undefined ? {} : { effects }) };
    const shown = options['offer'] as string | undefined;
    const { version, changes } = await acceptOffer(store, id, choice, administeredBy(context), shown);
    if (terminal.json) return terminal.printJson({ version, changes });
    if (changes.length === 0) return terminal.note('Nothing changed: all of it was accepted before.');
    for (const change of changes) terminal.print(`${id}: ${change}`);
    terminal.note(`The pins have version ${version}. Workers follow within seconds.`);
  });
}

function collectEffects(text: string, before: Readonly<Record<string, Effect>> = {}): Readonly<Record<string, Effect>> {
  const at = text.lastIndexOf('=');
  const effect = text.slice(at + 1);
  const known = EFFECTS.find((one) => one === effect);
  if (at <= 0 || known === undefined)
    throw usage(`--effect ${text.slice(0, 80)} is not KEY=EFFECT`, `Effects: ${EFFECTS.join(', ')}`);
  return { ...before, [text.slice(0, at)]: known };
}
