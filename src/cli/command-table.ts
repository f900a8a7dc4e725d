import { Command } from 'commander';
import { nearNames } from '../base/near-names.ts';
import { usage } from './command-failure.ts';

type LoadCommand = () => Promise<Command>;

/**
 * All commands, in the order of the help. The code of a command is loaded only when the
 * command is used: loading the code of all commands takes longer than most commands run.
 */
export const COMMANDS: Readonly<Record<string, LoadCommand>> = {
  dev: async () => (await import('./commands/dev.ts')).devCommand(),
  worker: async () => (await import('./commands/worker.ts')).workerCommand(),
  gateway: async () => (await import('./commands/gateway.ts')).gatewayCommand(),
  call: async () => (await import('./commands/call.ts')).callCommand(),
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand(),
  import: async () => (await import('./commands/import.ts')).importCommand(),
  calls: () =>
    group('calls', 'Calls under way and their outcomes', [
      async () => (await import('./commands/calls-list.ts')).callsListCommand(),
      async () => (await import('./commands/calls-show.ts')).callsShowCommand(),
      async () => (await import('./commands/calls-wait.ts')).callsWaitCommand(),
      async () => (await import('./commands/calls-cancel.ts')).callsCancelCommand(),
      async () => (await import('./commands/calls-resolve.ts')).callsResolveCommand(),
    ]),
  approvals: () =>
    group('approvals', 'Questions to people about calls', [
      async () => (await import('./commands/approvals-list.ts')).approvalsListCommand(),
      async () => (await import('./commands/approvals-show.ts')).approvalsShowCommand(),
      async () => (await import('./commands/approvals-reveal.ts')).approvalsRevealCommand(),
      async () => (await import('./commands/approvals-wait.ts')).approvalsWaitCommand(),
      async () => (await import('./commands/approvals-decide.ts')).approvalsDecideCommand(),
    ]),
  grants: () =>
    group('grants', 'Remembered answers to them', [
      async () => (await import('./commands/grants-list.ts')).grantsListCommand(),
      async () => (await import('./commands/grants-revoke.ts')).grantsRevokeCommand(),
    ]),
  messages: () =>
    group(
      'messages',
      'What tools sent to platforms, and what could not be sent',
      [
        async () => (await import('./commands/messages-show.ts')).messagesShowCommand(),
        async () => (await import('./commands/messages-retry.ts')).messagesRetryCommand(),
      ],
      async () => (await import('./commands/messages-list.ts')).messagesListCommand(),
    ),
  catalog: () =>
    group(
      'catalog',
      'What is published',
      [
        async () => (await import('./commands/catalog-show.ts')).catalogShowCommand(),
        async () => (await import('./commands/catalog-withdraw.ts')).catalogWithdrawCommand(),
      ],
      async () => (await import('./commands/catalog-list.ts')).catalogListCommand(),
    ),
  upstreams: () =>
    group(
      'upstreams',
      'MCP servers whose tools are served',
      [
        async () => (await import('./commands/upstreams-show.ts')).upstreamsShowCommand(),
        async () => (await import('./commands/upstreams-accept.ts')).upstreamsAcceptCommand(),
        async () => (await import('./commands/upstreams-test.ts')).upstreamsTestCommand(),
        async () => (await import('./commands/upstreams-pins.ts')).upstreamsPinsCommand(),
      ],
      async () => (await import('./commands/upstreams-list.ts')).upstreamsListCommand(),
    ),
  sessions: () =>
    group('sessions', 'Who calls are made for', [
      async () => (await import('./commands/sessions-open.ts')).sessionsOpenCommand(),
      async () => (await import('./commands/sessions-list.ts')).sessionsListCommand(),
      async () => (await import('./commands/sessions-end-run.ts')).sessionsEndRunCommand(),
      async () => (await import('./commands/sessions-revoke.ts')).sessionsRevokeCommand(),
    ]),
  tokens: () =>
    group('tokens', 'Who gets in at the gateway', [
      async () => (await import('./commands/tokens-create.ts')).tokensCreateCommand(),
      async () => (await import('./commands/tokens-list.ts')).tokensListCommand(),
      async () => (await import('./commands/tokens-revoke.ts')).tokensRevokeCommand(),
    ]),
  policy: () =>
    group('policy', 'Who may use which tool', [
      async () => (await import('./commands/policy-show.ts')).policyShowCommand(),
      async () => (await import('./commands/policy-set.ts')).policySetCommand(),
      async () => (await import('./commands/policy-check.ts')).policyCheckCommand(),
    ]),
  agents: () =>
    group(
      'agents',
      'Which tools each agent has',
      [
        async () => (await import('./commands/agents-show.ts')).agentsShowCommand(),
        async () => (await import('./commands/agents-set.ts')).agentsSetCommand(),
        async () => (await import('./commands/agents-remove.ts')).agentsRemoveCommand(),
      ],
      async () => (await import('./commands/agents-list.ts')).agentsListCommand(),
    ),
  audit: () =>
    group('audit', 'What was decided, and how it ended', [
      async () => (await import('./commands/audit-tail.ts')).auditTailCommand(),
      async () => (await import('./commands/audit-query.ts')).auditQueryCommand(),
      async () => (await import('./commands/audit-verify.ts')).auditVerifyCommand(),
      async () => (await import('./commands/audit-export.ts')).auditExportCommand(),
      async () => (await import('./commands/audit-erase.ts')).auditEraseCommand(),
      async () => (await import('./commands/audit-rotate-key.ts')).auditRotateKeyCommand(),
      async () => (await import('./commands/audit-accept-rollback.ts')).auditAcceptRollbackCommand(),
      async () => (await import('./commands/audit-accept-gap.ts')).auditAcceptGapCommand(),
      async () => (await import('./commands/audit-auditor-key.ts')).auditAuditorKeyCommand(),
      async () => (await import('./commands/audit-open.ts')).auditOpenCommand(),
    ]),
  explain: async () => (await import('./commands/explain.ts')).explainCommand(),
  pause: async () => (await import('./commands/pause.ts')).pauseCommand(),
  workers: async () => (await import('./commands/workers.ts')).workersCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  store: () =>
    group('store', 'Copies of the store, and the way out when its data was lost', [
      async () => (await import('./commands/store-backup.ts')).storeBackupCommand(),
      async () => (await import('./commands/store-restore.ts')).storeRestoreCommand(),
      async () => (await import('./commands/store-adopt.ts')).storeAdoptCommand(),
      async () => (await import('./commands/store-upgrade.ts')).storeUpgradeCommand(),
      async () => (await import('./commands/store-acl.ts')).storeAclCommand(),
    ]),
  completion: async () => (await import('./commands/completion.ts')).completionCommand(),
  config: () =>
    group('config', 'Options and where they come from', [
      async () => (await import('./commands/config-show.ts')).configShowCommand(),
    ]),
};

async function group(
  name: string,
  description: string,
  commands: readonly LoadCommand[],
  first?: LoadCommand,
): Promise<Command> {
  const made = new Command(name).description(description);
  for (const load of commands) made.addCommand(await load());
  if (first !== undefined) addDefault(made, await first());
  return made;
}

/** Makes `catalog` mean `catalog list`. Rejects a mistyped subcommand, which would otherwise be taken for an argument of `list`. */
function addDefault(group: Command, first: Command): void {
  group.addCommand(first, { isDefault: true });
  first.allowExcessArguments().hook('preAction', () => {
    const [word] = first.args;
    if (word === undefined) return;
    const [near] = nearNames(
      word,
      group.commands.map((command) => command.name()),
      1,
    );
    throw usage(
      `unknown command '${word.slice(0, 80)}'`,
      near === undefined ? undefined : `Did you mean ${near}? See: sallyport ${group.name()} --help`,
    );
  });
}
