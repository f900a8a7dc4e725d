import { Argument, Command, Option } from 'commander';
import { changePaused, findTargetProblem, readPaused, type PauseTarget } from '../../operate/change-paused.ts';
import type { Paused } from '../../domain/policy/policy.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { shellWord } from '../own-command.ts';
import { withFoundedStore, withStore } from '../with-store.ts';

export function pauseCommand(): Command {
  return new Command('pause')
    .description(
      'Refuse calls of an agent, of a tool, or all calls, until resumed; without a target: show what is paused',
    )
    .addArgument(new Argument('[what]', 'what to pause').choices(['agent', 'tool', 'all']))
    .argument('[name]', 'name of the agent; module.tool or module.* for a tool')
    .addOption(new Option('--resume', 'end a pause: name what was paused, or nothing to resume everything'))
    .addOption(commentOption())
    .action(action(pause));
}

async function pause(
  context: CommandContext,
  what: PauseTarget['what'] | undefined,
  name: string | undefined,
): Promise<void> {
  const { terminal } = context;
  const resume = context.options['resume'] === true;
  const target = checkTarget(what, name);
  const changes = target !== undefined || resume;
  const openStore = changes ? withFoundedStore : withStore;
  await openStore(context, async (store) => {
    const { version, changed, paused, warnings } = changes
      ? await changePaused(store, target, resume, administeredBy(context))
      : await readPaused(store);
    for (const warning of warnings) terminal.warn(warning);
    if (terminal.json) return terminal.printJson({ version, changed, paused });
    if (changes && !changed) terminal.note('Nothing had to be changed.');
    terminal.print(describePaused(paused));
    if (target !== undefined && !resume) terminal.note(`Take it back with: sallyport ${resumeCommand(target)}`);
  });
}

function resumeCommand({ what, name }: PauseTarget): string {
  return ['pause', what, ...(name === undefined ? [] : [shellWord(name)]), '--resume'].join(' ');
}

function checkTarget(what: PauseTarget['what'] | undefined, name: string | undefined): PauseTarget | undefined {
  if (what === undefined) return undefined;
  const target = { what, ...(name === undefined ? {} : { name }) };
  const problem = findTargetProblem(target);
  if (problem !== undefined) throw usage(problem);
  return target;
}

function describePaused({ all, agents = [], tools = [] }: Paused): string {
  const parts = [
    ...(all === true ? ['all calls'] : []),
    ...(agents.length > 0 ? [`agents ${agents.join(', ')}`] : []),
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
  ];
  return parts.length === 0 ? 'Nothing is paused.' : `Paused: ${parts.join('; ')}.`;
}
