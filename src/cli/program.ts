import { Command, Option } from 'commander';
import { RELEASE } from '../compose/release.ts';
import { usage } from './command-failure.ts';
import { COMMANDS } from './command-table.ts';
import { ConfigOption, SingleOption } from './single-option.ts';

const EXIT_HELP = `
Exit codes: 0 ok, 1 the call ended otherwise or nothing was done, 2 usage, 69 something is not available,
77 not allowed, 78 configuration, 130 second Ctrl-C.`;

/** The command line, with these commands or all. Everything is parsed strictly; errors are thrown and told in one place. */
export async function createProgram(names: readonly string[] = Object.keys(COMMANDS)): Promise<Command> {
  const program = new Command('sallyport')
    .description('A guarded door between AI agents and their tools.')
    .version(RELEASE)
    .addOption(new SingleOption('--config <path>', 'configuration file (default: sallyport.yaml, .yml or .json here)'))
    .addOption(new Option('--json', 'print JSON, and only JSON, on standard output'))
    .addOption(new Option('--debug', 'show the full cause of an error'))
    .addOption(new SingleOption('--token <token>', '', refuseToken).hideHelp())
    .addHelpText('after', EXIT_HELP);
  for (const path of ['store', 'folder', 'redis.url', 'redis.name', 'log.level'])
    program.addOption(new ConfigOption(path));

  for (const name of names) program.addCommand(await COMMANDS[name]!());
  quieten(program);
  return program;
}

/** The first word of the command: `tokens` for `sallyport tokens create mcp`. */
export function commandWord(action: Command): string {
  let command = action;
  while (command.parent?.parent) command = command.parent;
  return command.name();
}

/** Arguments of a process can be read by everybody on the machine, and stay in the shell's history. */
function refuseToken(): never {
  throw usage('A token does not belong on the command line.', 'Put the session into a file: --session-file FILE');
}

/** Commander throws instead of printing and ending the process; help is the only thing it prints. */
function quieten(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) quieten(child);
}
