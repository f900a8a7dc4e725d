import { Command } from 'commander';
import { listAgents } from '../../domain/identity/agent.ts';
import { indexTools } from '../../domain/tool/catalog.ts';
import { selects } from '../../domain/identity/selection.ts';
import { action } from '../command-context.ts';
import { NOT_SELECTING } from '../read-agent.ts';
import { withStore } from '../with-store.ts';

export function agentsListCommand(): Command {
  return new Command('list').description('The declared agents, and how much each selects').action(
    action((context) =>
      withStore(context, async (store) => {
        const { terminal } = context;
        const { version, policy } = await store.readPolicy();
        const ids = [...indexTools(await store.readCatalog()).keys()];
        const agents = listAgents(policy).map(({ declaration: { description, selection }, ...place }) => ({
          ...place,
          modules: selection.length,
          tools: ids.filter((id) => selects(selection, id)).length,
          ...(description === undefined ? {} : { description }),
        }));
        const selecting = policy.agents !== undefined;
        if (terminal.json) return terminal.printJson({ policyVersion: version, selecting, agents });
        if (!selecting && agents.length === 0) return terminal.note(NOT_SELECTING);
        if (agents.length === 0) return terminal.note('No agent is declared, so no agent has any tool.');
        terminal.printTable(
          ['AGENT', 'TENANT', 'MODULES', 'TOOLS', 'DESCRIPTION'],
          agents.map(({ name, tenant = 'every', modules, tools, description = '' }) => [
            name,
            tenant,
            String(modules),
            tools === 0 ? { text: '0', style: 'yellow' } : String(tools),
            description,
          ]),
        );
      }),
    ),
  );
}
