import { Command } from 'commander';
import { changePolicy } from '../../compose/change-policy.ts';
import { NO_AGENT_LEFT } from '../../compose/declare-agents.ts';
import { findRuleProblems } from '../../config/rule-problems.ts';
import { nearNames } from '../../domain/near-names.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { checkAgentName, findAgent } from '../read-agent.ts';
import { withStore } from '../with-store.ts';

export function agentsRemoveCommand(): Command {
  return new Command('remove')
    .description('Take an agent away; it then has no tools')
    .argument('<name>', 'name of the agent')
    .addOption(commentOption())
    .action(
      action((context, name: string) => {
        const { terminal } = context;
        checkAgentName(name);
        return withStore(context, async (store) => {
          const { version, policy } = await changePolicy(store, administeredBy(context), ({ policy: current }) => {
            findAgent(current, name);
            const { [name]: _, ...agents } = current.agents!;
            return { ...current, agents };
          });
          const left = Object.keys(policy.agents ?? {}).length;
          // Not the same as no selecting: taking the last one away must not open everything to everybody.
          if (left === 0) terminal.warn(NO_AGENT_LEFT);
          const doubts = findRuleProblems(policy, undefined, nearNames).map(({ text }) => text);
          for (const doubt of doubts) terminal.warn(doubt);
          if (terminal.json) return terminal.printJson({ version, name, left, warnings: doubts });
          terminal.print(`Agent ${name} is gone with policy version ${version}; ${left} left.`);
        });
      }),
    );
}
