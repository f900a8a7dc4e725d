import { Command, Option } from 'commander';
import { offerMark, suspicionsOf, viewUpstream } from '../../operate/upstream-pins.ts';
import { describeChange } from '../../upstreams/pins/describe-change.ts';
import { renderChange } from '../../upstreams/pins/render-change.ts';
import { suggestEffect } from '../../upstreams/pins/suggest-effect.ts';
import { toSafeJson } from '../../base/escape-text.ts';
import { action, type CommandContext } from '../command-context.ts';
import { withStore } from '../with-store.ts';
import { showUpstream } from './upstreams-list.ts';

export function upstreamsShowCommand(): Command {
  return new Command('show')
    .description('What an MCP server offers, word by word where it differs from what was accepted')
    .argument('<upstream>', 'its id')
    .addOption(new Option('--all', 'also what was accepted and is the same'))
    .action(action(show));
}

async function show(context: CommandContext, id: string): Promise<void> {
  await withStore(context, async (store, { config }) => {
    const { terminal, options } = context;
    const view = await viewUpstream(store, id, Object.keys(config.upstreams ?? {}));
    const suspicions = await suspicionsOf(store, view);
    if (terminal.json)
      return terminal.printJson({
        ...showUpstream(view),
        ...(view.offer === undefined ? {} : { offer: offerMark(view.offer) }),
        definitions: view.definitions,
        suspicions,
      });
    const { state } = showUpstream(view);
    terminal.print(`${id}: ${state}`);
    if (view.server.length > 0)
      terminal.print(`server: it now says about itself ${toSafeJson(view.offer?.server ?? {})}`);
    const shown = view.definitions.filter(({ status }) => options['all'] === true || status !== 'same');
    for (const { pinned, offered, key, status } of shown) {
      terminal.print('');
      if (status === 'same') terminal.print(`${key}: the same`);
      else for (const line of renderChange(describeChange(pinned, offered), { colour: false })) terminal.print(line);
      if (offered?.kind === 'tool' && pinned === undefined) {
        const { effect, because } = suggestEffect(offered.body);
        terminal.print(`  suggested effect: ${effect}. ${because}`);
      }
      for (const one of suspicions.filter((each) => each.key === key))
        terminal.warn(`${key} ${one.pointer}: ${one.why} ${one.text}`);
    }
    for (const one of suspicions.filter(({ key }) => !shown.some((each) => each.key === key)))
      terminal.warn(`${one.key} ${one.pointer}: ${one.why} ${one.text}`);
    if (view.offer === undefined) terminal.note('No worker has connected to it yet.');
    else if (state !== 'accepted')
      terminal.note(
        `Accept exactly this with: sallyport upstreams accept ${id} --all --offer ${offerMark(view.offer)}. A pin cannot see changed behaviour.`,
      );
  });
}
