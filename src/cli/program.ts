import { Command, Option } from 'commander';
import { RELEASE } from '../base/release.ts';
import { nearNames } from '../base/near-names.ts';
import { usage } from './command-failure.ts';
import { COMMANDS } from './command-table.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { ConfigOption, SingleOption } from './single-option.ts';

const EXIT_HELP = ['Exit codes:', ...EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`)]
  .join('\n')
  .replaceAll('`', '');

/** Builds the command line with the named commands, by default all. Everything is parsed strictly. Errors are thrown, and reported in one place. */
export async function createProgram(names: readonly string[] = Object.keys(COMMANDS)): Promise<Command> {
  const program = new Command('sallyport')
    .description('A guarded door between AI agents and their tools.')
    .version(RELEASE)
    .addOption(new SingleOption('--config <path>', 'configuration file (default: sallyport.yaml, .yml or .json here)'))
    .addOption(new Option('--json', 'print JSON, and only JSON, on standard output'))
    .addOption(new Option('--debug', 'show the full cause of an error'))
    .addOption(new SingleOption('--token <token>', '', refuseToken).hideHelp())
    .addHelpText('after', `\n${EXIT_HELP}`);
  for (const path of ['store', 'folder', 'redis.url', 'redis.name', 'log.level'])
    program.addOption(new ConfigOption(path));

  for (const name of names) program.addCommand(await COMMANDS[name]!());
  program.addCommand(exitCodesTopic(), { hidden: true });
  program.addCommand(versionCommand(), { hidden: true });
  quieten(program);
  return program;
}

/** `sallyport help exit-codes` prints only the table of exit codes. The command is hidden, because it does nothing else. */
function exitCodesTopic(): Command {
  return new Command('exit-codes')
    .configureHelp({ formatHelp: () => `${EXIT_HELP}\n` })
    .action((_, command: Command) => command.help());
}

/** `sallyport version` prints what `--version` does. It is hidden, because one way is enough in the help. */
function versionCommand(): Command {
  return new Command('version').action(() => void process.stdout.write(`${RELEASE}\n`));
}

/** The words that name the command: `sallyport tokens create` for `sallyport tokens create mcp`. */
export function commandWords(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

/** The command that these arguments name, as far as they can be read: `calls list` for `calls --folder x list --bogus`. */
export function namedCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === '--') break;
    if (word.startsWith('-')) {
      if (takesValue(program, command, word)) at += 1;
      continue;
    }
    command = command.commands.find((child) => child.name() === word) ?? command;
  }
  return command;
}

/** Throws if `help` is asked about a command that does not exist. Commander itself would print the general help. */
export function refuseUnknownTopic(program: Command, args: readonly string[]): void {
  let command = program;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === 'help') return refuseUnknown(command, args[at + 1]);
    if (!word.startsWith('-')) {
      const child = command.commands.find((one) => one.name() === word);
      if (child === undefined || child.commands.length === 0) return;
      command = child;
    } else if (takesValue(program, command, word)) at += 1;
  }
}

function refuseUnknown(command: Command, topic: string | undefined): void {
  const names = [...command.commands.map((one) => one.name()), 'help'];
  if (topic === undefined || topic.startsWith('-') || names.includes(topic)) return;
  const what = command.parent === null ? 'command or topic' : 'command';
  const [guess] = nearNames(topic, names);
  const question = guess === undefined ? '' : ` Did you mean ${guess}?`;
  throw usage(`There is no ${what} ${JSON.stringify(topic)}.${question}`, `See: ${helpCommand(command)}`);
}

function takesValue(program: Command, command: Command, word: string): boolean {
  const known = [...command.options, ...program.options].find(({ long, short }) => word === long || word === short);
  return known?.required === true;
}

/** The command that shows the help of a command, such as `sallyport tokens create --help`. */
export function helpCommand(command: Command): string {
  return `${commandWords(command)} --help`;
}

/** Rejects a token on the command line: every user of the machine can read the arguments of a process, and they stay in the shell's history. */
function refuseToken(): never {
  throw usage('A token does not belong on the command line.', 'Put the session into a file: --session-file FILE');
}

/** Makes commander throw errors instead of printing them and ending the process. Help and the version are still printed. */
function quieten(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) quieten(child);
}
