import { Command, Option } from 'commander';
import { countNoun } from '../../base/count-noun.ts';
import { nearNames } from '../../base/near-names.ts';
import { applyPolicyFile, findPolicyWarnings, readPolicyFile } from '../../gate/policy/policy-file.ts';
import { whyClosed } from '../../gate/policy/closed-policy.ts';
import { checkRules } from '../../gate/policy/rule-problems.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { entriesOf } from '../../domain/tool/module.ts';
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
        const { tools, policy } = await readPlane(context);
        const known = tools === undefined ? undefined : { tools };
        const inForce = applyPolicyFile(read, policy);
        const closed = whyClosed(inForce);
        const warnings = [
          ...read.warnings,
          ...(closed === undefined ? [] : [closed]),
          ...findPolicyWarnings(inForce, tools, nearNames, read),
          ...checkRules(read, inForce, known, nearNames),
        ];
        for (const warning of warnings) terminal.warn(warning);
        if (terminal.json) terminal.printJson({ valid: true, warnings, comparedWithCatalog: tools !== undefined });
        else {
          terminal.print(
            `${file} can be used${warnings.length === 0 ? '' : `, with ${countNoun(warnings.length, 'warning')}`}.`,
          );
          if (tools === undefined) terminal.note('It was not compared with published tools: no store can be reached.');
        }
        return context.options['strict'] === true && warnings.length > 0 ? EXIT.config : EXIT.ok;
      }),
    );
}

interface KnownPlane {
  readonly tools?: readonly ToolDeclaration[];
  readonly policy: Policy;
}

/**
 * Reads the published tools and the current policy. A file can be checked without a store. Only the comparison with the catalog, and with the
 * parts of the policy that the file leaves unchanged, needs a store.
 */
async function readPlane(context: CommandContext): Promise<KnownPlane> {
  try {
    return await withStore(context, async (store) => {
      const [{ modules }, { policy }] = [await store.readCatalog(), await store.readPolicy()];
      return modules.length === 0 ? { policy } : { policy, tools: modules.flatMap(entriesOf) };
    });
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === EXIT.unavailable) return { policy: CLOSED_POLICY };
    if (error instanceof PlaneError && error.code === 'STORE_UNAVAILABLE') return { policy: CLOSED_POLICY };
    throw error;
  }
}
