import { Command } from 'commander';
import { declaringTenant, isSelecting, nameAgent } from '../../domain/identity/agent.ts';
import { buildToolkit, type MissingReason, type MissingTool } from '../../domain/tool/toolkit.ts';
import { action } from '../command-context.ts';
import { findDeciding, nameSubject, NOT_SELECTING, readIdentity } from '../read-agent.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

const REASONS: Readonly<Record<MissingReason, string>> = {
  'agent-unknown': 'no agent of that name is declared',
  'not-selected': 'not selected',
  'unknown-name': 'selected, but its module has no such tool',
  'nothing-matched': 'selected, but the module has none of the names',
  'module-absent': 'selected, but no such module is published',
  'module-empty': 'selected, but the module has no tools',
  'no-permission': 'selected, but no permission names the subject',
  denied: 'selected, but the subject is denied',
  paused: 'paused by an operator',
};

export function agentsShowCommand(): Command {
  return new Command('show')
    .description('What an agent declared, which tools it has, and why it does not have the others')
    .argument('<name>', 'name of the agent')
    .addOption(new SingleOption('--subject <name>', 'for whom it would call (default: local)'))
    .addOption(new SingleOption('--tenant <name>', 'the tenant of the subject (default: default)'))
    .action(
      action((context, name: string) => {
        const { terminal } = context;
        const identity = readIdentity(name, context.options);
        return withStore(context, async (store) => {
          const { version, policy } = await store.readPolicy();
          const isOpen = !isSelecting(policy, identity.tenant);
          const declaration = isOpen ? undefined : findDeciding(policy, identity);
          const tenant = isOpen ? undefined : declaringTenant(policy, identity.tenant, name);
          const { tools, missing } = buildToolkit(await store.readCatalog(), policy, identity);
          const ids = tools.map(({ tool }) => tool.id);
          if (terminal.json) {
            const declaredFor = tenant === undefined ? {} : { declaredFor: tenant };
            const declared =
              declaration === undefined ? { selecting: false } : { selecting: true, ...declaration, ...declaredFor };
            return terminal.printJson({ policyVersion: version, ...identity, ...declared, tools: ids, missing });
          }
          terminal.print(nameAgent(name, tenant), 'bold');
          if (declaration === undefined) terminal.note(NOT_SELECTING);
          else {
            if (declaration.description !== undefined) terminal.print(declaration.description);
            const rows = declaration.selection.map((entry) => [entry.module, describeTools(entry.tools)]);
            if (rows.length === 0) terminal.print('selects nothing');
            else terminal.printTable(['MODULE', 'SELECTED'], rows);
          }
          const whose = `for ${nameSubject(identity)}, by policy version ${version}`;
          terminal.print(`\n${countTools(ids.length)} ${whose}`, 'bold');
          for (const id of ids) terminal.print(`  ${id}`);
          if (missing.length === 0) return;
          terminal.print('\nMissing', 'bold');
          terminal.printTable(
            undefined,
            missing.map((one) => [one.tool, describeReason(one)]),
          );
        });
      }),
    );
}

function countTools(count: number): string {
  if (count === 0) return 'No tools';
  return count === 1 ? '1 tool' : `${count} tools`;
}

function describeTools(tools: 'all' | readonly string[]): string {
  if (tools === 'all') return 'all, later ones too';
  return tools.length === 0 ? 'none' : tools.join(', ');
}

function describeReason({ reason, delegator }: MissingTool): string {
  return delegator === undefined ? REASONS[reason] : `${delegator}: ${REASONS[reason]}`;
}
