import { Command, Option } from 'commander';
import { nearNames } from '../../domain/near-names.ts';
import { findPolicyDoubts, readPolicyFile } from '../../config/policy-file.ts';
import { PlaneError } from '../../domain/errors.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import { action, type CommandContext } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../with-store.ts';

export function policyCheckCommand(): Command {
  return new Command('check')
    .description('Check a policy file without setting it')
    .argument('<file>', 'JSON or YAML')
    .addOption(new Option('--strict', 'warnings are errors'))
    .action(
      action(async (context, file: string) => {
        const { terminal } = context;
        const read = readPolicyFile(file, nearNames);
        const tools = await publishedTools(context);
        const warnings = [...read.warnings, ...findPolicyDoubts(read.policy, tools, nearNames)];
        for (const warning of warnings) terminal.warn(warning);
        if (terminal.json) terminal.printJson({ valid: true, warnings, comparedWithCatalog: tools !== undefined });
        else {
          terminal.print(`${file} can be used${warnings.length === 0 ? '' : `, with ${warnings.length} warnings`}.`);
          if (tools === undefined) terminal.note('It was not compared with published tools: no store can be reached.');
        }
        return context.options['strict'] === true && warnings.length > 0 ? EXIT.config : EXIT.ok;
      }),
    );
}

/** A file can be checked anywhere; only the comparison with the catalog needs a store. */
async function publishedTools(context: CommandContext): Promise<ToolDeclaration[] | undefined> {
  try {
    const { modules } = await withStore(context, (store) => store.readCatalog());
    return modules.length === 0 ? undefined : modules.flatMap((module) => module.tools);
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === EXIT.unavailable) return undefined;
    if (error instanceof PlaneError && error.code === 'STORE_UNAVAILABLE') return undefined;
    throw error;
  }
}
