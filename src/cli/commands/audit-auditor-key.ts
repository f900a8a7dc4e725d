import { Command } from 'commander';
import { makeAuditorKeys } from '../../audit/auditor-keys.ts';
import { action } from '../command-context.ts';
import { SingleOption } from '../single-option.ts';

export function auditAuditorKeyCommand(): Command {
  return new Command('auditor-key')
    .description('Make the pair of keys that arguments of privileged calls are sealed to and opened with')
    .addOption(
      new SingleOption('--out <folder>', 'folder for both files; existing ones are kept').makeOptionMandatory(),
    )
    .action(
      action(async ({ terminal, options }) => {
        const made = makeAuditorKeys(options['out'] as string);
        if (terminal.json) return terminal.printJson(made);
        terminal.print(`Key ${made.id}`);
        terminal.print(`  ${made.publicFile}  for the workers: audit.auditorKeyFile`);
        terminal.print(`  ${made.privateFile}  for the auditor: take it off this machine`);
      }),
    );
}
