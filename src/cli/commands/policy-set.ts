import { Command, InvalidArgumentError } from 'commander';
import { nearNames } from '../../base/near-names.ts';
import { setPolicy } from '../../operate/set-policy.ts';
import { readPolicyFile } from '../../gate/policy/policy-file.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { SingleOption } from '../single-option.ts';
import { withFoundedStore } from '../with-store.ts';

export function policySetCommand(): Command {
  return new Command('set')
    .description('Replace roles and permissions, and what else the file speaks of, for every call claimed from now on')
    .argument('<file>', 'JSON or YAML')
    .addOption(new SingleOption('--expect <version>', 'refuse if the policy in force has another version', readVersion))
    .addOption(commentOption())
    .action(
      action((context, file: string) => {
        const read = readPolicyFile(file, nearNames);
        return withFoundedStore(context, async (store) => {
          const { terminal } = context;
          const expected = context.options['expect'] as number | undefined;
          const { version, warnings, kept } = await setPolicy(store, read, administeredBy(context), expected);
          for (const warning of warnings) terminal.warn(warning);
          if (terminal.json) terminal.printJson({ version, warnings, kept });
          else terminal.print(`The policy is now version ${version}.`);
          if (kept.length > 0)
            terminal.note(
              `Kept as before, because the file does not have them: ${kept.join(', ')}. See: sallyport policy show`,
            );
        });
      }),
    );
}

function readVersion(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the version that sallyport policy show told.');
}
