import { Argument, Command } from 'commander';
import { action } from '../command-context.ts';
import { bashScript } from '../completion/bash.ts';
import { commandTree } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish.ts';
import { zshScript } from '../completion/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The printed script describes the whole program, so all other commands must be loaded too. */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('Print a script that completes commands, options and choices in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)));
  return command.action(
    action(async ({ terminal }, shell: keyof typeof SCRIPTS) => {
      terminal.printRaw(SCRIPTS[shell](commandTree(command.parent!)));
    }),
  );
}
