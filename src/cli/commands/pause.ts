import { Argument, Command, Option } from 'commander';
import { changePolicy } from '../../compose/change-policy.ts';
import type { Paused, Policy } from '../../domain/policy.ts';
import { findPolicyDoubts } from '../../config/policy-file.ts';
import { nearNames } from '../../domain/near-names.ts';
import { splitToolId } from '../../domain/ids.ts';
import { entriesOf } from '../../domain/module.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { withFoundedStore, withStore } from '../with-store.ts';

type Target = 'agent' | 'tool' | 'all';

export function pauseCommand(): Command {
  return new Command('pause')
    .description(
      'Refuse calls of an agent, of a tool, or all calls, until resumed; without a target: show what is paused',
    )
    .addArgument(new Argument('[what]', 'what to pause').choices(['agent', 'tool', 'all']))
    .argument('[name]', 'name of the agent; module.tool or module.* for a tool')
    .addOption(new Option('--resume', 'take it back; without a target: resume everything'))
    .action(action(pause));
}

async function pause(context: CommandContext, what: Target | undefined, name: string | undefined): Promise<void> {
  const { terminal } = context;
  const resume = context.options['resume'] === true;
  const target = checkTarget(what, name);
  const changes = target !== undefined || resume;
  const openStore = changes ? withFoundedStore : withStore;
  await openStore(context, async (store) => {
    const record = changes
      ? await changePolicy(store, ({ policy }) => ({ ...policy, paused: changePaused(policy.paused, target, resume) }))
      : { ...(await store.readPolicy()), changed: false };
    if (target?.what === 'tool' && !resume) {
      const tools = (await store.readCatalog()).modules.flatMap(entriesOf);
      const asked: Policy = { roles: {}, permissions: {}, paused: { tools: [target.name] } };
      for (const doubt of findPolicyDoubts(asked, tools, nearNames)) terminal.warn(doubt);
    }
    const { version, changed, policy } = record;
    if (terminal.json) return terminal.printJson({ version, changed, paused: policy.paused });
    if (changes && !changed) terminal.note('Nothing had to be changed.');
    terminal.print(describePaused(policy.paused));
  });
}

function checkTarget(what: Target | undefined, name: string | undefined): { what: Target; name: string } | undefined {
  if (what === undefined) return undefined;
  if (what === 'all' && name !== undefined) throw usage('"all" takes no name.');
  if (what !== 'all' && name === undefined) throw usage(`Name the ${what}: sallyport pause ${what} NAME`);
  if (what === 'tool' && splitToolId(name!.replace(/\.\*$/, '.x')) === undefined && name !== '*') {
    throw usage('A tool is named module.tool, or module.* for all of a module.');
  }
  return { what, name: name ?? '' };
}

function changePaused(paused: Paused, target: { what: Target; name: string } | undefined, resume: boolean): Paused {
  if (target === undefined) return {};
  const { what, name } = target;
  const { all: _, ...rest } = paused;
  if (what === 'all') return resume ? rest : { ...rest, all: true };
  const list = what === 'agent' ? 'agents' : 'tools';
  const names = new Set(paused[list]);
  if (resume) names.delete(name);
  else names.add(name);
  const { [list]: __, ...others } = paused;
  return names.size === 0 ? others : { ...others, [list]: [...names].sort() };
}

function describePaused({ all, agents = [], tools = [] }: Paused): string {
  const parts = [
    ...(all === true ? ['all calls'] : []),
    ...(agents.length > 0 ? [`agents ${agents.join(', ')}`] : []),
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
  ];
  return parts.length === 0 ? 'Nothing is paused.' : `Paused: ${parts.join('; ')}.`;
}
