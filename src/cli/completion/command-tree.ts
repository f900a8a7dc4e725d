import type { Argument, Command, Option } from 'commander';
import { SingleOption } from '../single-option.ts';

/** One command, with everything that a shell needs to complete it. The program itself has an empty path. */
export interface CompletedCommand {
  /** The command words after `sallyport`, such as `tokens create`. */
  readonly path: string;
  readonly subcommands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** The allowed values of each argument, in order. An empty list means free text. */
  readonly argumentChoices: readonly (readonly string[])[];
}

export interface Described {
  readonly name: string;
  readonly description: string;
}

export interface CompletedOption extends Described {
  readonly takesValue: boolean;
  /** The allowed values. Empty: any value is allowed, so the shell offers files. */
  readonly choices: readonly string[];
}

/** The command line as data: every visible command. Each one also has the options of the program itself, because they are accepted anywhere. */
export function commandTree(program: Command): CompletedCommand[] {
  const shared = program.options.filter(({ hidden }) => !hidden).map(toCompleted);
  // `help` takes commands and hidden topics as its argument. It is added by hand, because walk() does not visit it.
  const topics = program.commands.map((child) => child.name());
  const help: CompletedCommand = { path: 'help', subcommands: [], options: [], argumentChoices: [topics] };
  const walk = (command: Command, path: string): CompletedCommand[] => {
    const own = command === program ? [] : command.options.filter(({ hidden }) => !hidden).map(toCompleted);
    // Commander's help knows which commands are hidden. It also lists the command `help`, which does not belong in the tree.
    const shown = command.createHelp().visibleCommands(command);
    const children = command.commands.filter((child) => shown.includes(child));
    const subcommands = children.map((child) => ({ name: child.name(), description: child.description() }));
    const node: CompletedCommand = {
      path,
      subcommands,
      options: [...own, ...shared, { name: '--help', description: 'show help', takesValue: false, choices: [] }],
      argumentChoices: command.registeredArguments.map(choicesOf),
    };
    return [node, ...children.flatMap((child) => walk(child, `${path} ${child.name()}`.trim()))];
  };
  const [top, ...others] = walk(program, '');
  const shown = { name: 'help', description: 'display help for command' };
  return [{ ...top!, subcommands: [...top!.subcommands, shown] }, help, ...others];
}

function toCompleted(option: Option): CompletedOption {
  const { long, short, description, required, optional } = option;
  const completes = option instanceof SingleOption ? option.completes : undefined;
  return {
    name: long ?? short!,
    description,
    takesValue: required || optional,
    choices: option.argChoices ?? completes ?? [],
  };
}

function choicesOf({ argChoices = [] }: Argument): readonly string[] {
  return argChoices;
}
