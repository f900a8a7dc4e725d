import { Command } from 'commander';
import { nameAgent } from '../../domain/identity/agent.ts';
import { nearNames } from '../../base/near-names.ts';
import { changeAgents } from '../../operate/declare-agents.ts';
import { readDeclaration, type ReadDeclaration } from '../../gate/policy/agent-schema.ts';
import { readSettingsFile } from '../../base/settings/read-settings-file.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { checkAgentName, readTenantFlag } from '../read-agent.ts';
import { readStandardInput } from '../read-call-arguments.ts';
import { SingleOption } from '../single-option.ts';
import { withFoundedStore } from '../with-store.ts';

export function agentsSetCommand(): Command {
  return new Command('set')
    .description('Declare an agent, or replace what it declared; it holds for every call claimed from now on')
    .argument('<name>', 'name of the agent')
    .argument('<file>', 'its selection or whole declaration, JSON or YAML; - for JSON from standard input')
    .addOption(new SingleOption('--tenant <name>', 'for this tenant alone, in place of the general declaration'))
    .addOption(commentOption())
    .action(
      action(async (context, name: string, file: string) => {
        const { terminal } = context;
        checkAgentName(name);
        const place = readTenantFlag(context.options);
        const { declaration, warnings } = await readAgentFile(name, file);
        return withFoundedStore(context, async (store) => {
          const changes = { declared: { [name]: declaration }, removed: [], warnings, ...place };
          const who = administeredBy(context);
          const { policyVersion: version, changed, warnings: found } = await changeAgents(store, changes, who);
          for (const warning of found) terminal.warn(warning);
          const shown = { version, changed, name, ...place, ...declaration, warnings: found };
          if (terminal.json) return terminal.printJson(shown);
          if (!changed) terminal.note('Nothing had to be changed.');
          terminal.print(`Agent ${nameAgent(name, place.tenant)} stands in policy version ${version}.`);
        });
      }),
    );
}

async function readAgentFile(name: string, file: string): Promise<ReadDeclaration> {
  if (file !== '-') {
    const read = readSettingsFile(file);
    if (read.kind === 'problem') throw planeError('POLICY_INVALID', { problems: [read.problem] });
    return readDeclaration(name, read.file.value, { placeOf: read.file.placeOf, near: nearNames });
  }
  const parsed = parseStrictJson(await readStandardInput());
  if (!parsed.ok) throw planeError('POLICY_INVALID', { problems: [`standard input: ${parsed.error.problem}`] });
  return readDeclaration(name, parsed.value, { placeOf: () => 'standard input', near: nearNames });
}
