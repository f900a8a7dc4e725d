import { Command, InvalidArgumentError } from 'commander';
import { nearNames } from '../../domain/near-names.ts';
import { applyPolicyFile, findPolicyDoubts, readPolicyFile } from '../../config/policy-file.ts';
import { checkRules } from '../../config/rule-problems.ts';
import { planeError } from '../../domain/errors.ts';
import { entriesOf } from '../../domain/module.ts';
import { action } from '../command-context.ts';
import { SingleOption } from '../single-option.ts';
import { withFoundedStore } from '../with-store.ts';

export function policySetCommand(): Command {
  return new Command('set')
    .description('Replace roles and permissions, and what else the file speaks of, for every call claimed from now on')
    .argument('<file>', 'JSON or YAML')
    .addOption(new SingleOption('--expect <version>', 'refuse if the policy in force has another version', readVersion))
    .action(
      action((context, file: string) => {
        const read = readPolicyFile(file, nearNames);
        return withFoundedStore(context, async (store) => {
          const { terminal } = context;
          const tools = (await store.readCatalog()).modules.flatMap(entriesOf);
          const current = await store.readPolicy();
          const expected = (context.options['expect'] as number | undefined) ?? current.version;
          // What the file leaves as it is comes from the version just read, so it must be the expected one.
          if (current.version !== expected) throw planeError('POLICY_CONFLICT', { expected, found: current.version });
          const policy = applyPolicyFile(read, current.policy);
          const known = tools.length === 0 ? undefined : { tools };
          const warnings = [
            ...read.warnings,
            ...findPolicyDoubts(policy, known?.tools, nearNames),
            ...checkRules(read, policy, known, nearNames),
          ];
          const written = await store.writePolicy({ expectedVersion: expected, policy });
          if (written.kind === 'conflict') throw planeError('POLICY_CONFLICT', { expected, found: written.version });
          for (const warning of warnings) terminal.warn(warning);
          if (terminal.json) terminal.printJson({ version: written.version, warnings });
          else terminal.print(`The policy is now version ${written.version}.`);
        });
      }),
    );
}

function readVersion(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the version that sallyport policy show told.');
}
