import { Command } from 'commander';
import { changePolicy } from '../../operate/change-policy.ts';
import { NO_AGENT_LEFT } from '../../operate/declare-agents.ts';
import { findRuleProblems } from '../../gate/policy/rule-problems.ts';
import { agentsOfTenant, nameAgent, withAgents } from '../../domain/identity/agent.ts';
import { nearNames } from '../../base/near-names.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { AgentDeclaration } from '../../domain/identity/selection.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { checkAgentName, findDeclared, readTenantFlag } from '../read-agent.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

export function agentsRemoveCommand(): Command {
  return new Command('remove')
    .description('Take an agent away; it then has no tools')
    .argument('<name>', 'name of the agent')
    .addOption(new SingleOption('--tenant <name>', 'only what was declared for this tenant alone'))
    .addOption(commentOption())
    .action(
      action((context, name: string) => {
        const { terminal } = context;
        checkAgentName(name);
        const { tenant } = readTenantFlag(context.options);
        return withStore(context, async (store) => {
          const { version, policy } = await changePolicy(store, administeredBy(context), ({ policy: current }) => {
            findDeclared(current, name, tenant);
            const { [name]: _, ...agents } = agentsIn(current, tenant);
            return withAgents(current, agents, tenant);
          });
          const left = Object.keys(agentsIn(policy, tenant)).length;
          // The policy keeps an empty group of agents, so selection stays on and no agent
          // has tools. Removing the last agent must not open every tool to every agent.
          if (left === 0 && tenant === undefined) terminal.warn(NO_AGENT_LEFT);
          const warnings = findRuleProblems(policy, undefined, nearNames).map(({ text }) => text);
          for (const warning of warnings) terminal.warn(warning);
          const place = tenant === undefined ? { name } : { name, tenant };
          if (terminal.json) return terminal.printJson({ version, ...place, left, warnings });
          terminal.print(`Agent ${nameAgent(name, tenant)} is gone with policy version ${version}; ${left} left.`);
        });
      }),
    );
}

function agentsIn(policy: Policy, tenant: string | undefined): Readonly<Record<string, AgentDeclaration>> {
  return (tenant === undefined ? policy.agents : agentsOfTenant(policy, tenant)) ?? {};
}
