import { Command, Option } from 'commander';
import { nearNames } from '../domain/near-names.ts';
import { RELEASE } from '../compose/release.ts';
import { agentsListCommand } from './commands/agents-list.ts';
import { agentsRemoveCommand } from './commands/agents-remove.ts';
import { agentsSetCommand } from './commands/agents-set.ts';
import { agentsShowCommand } from './commands/agents-show.ts';
import { approvalsDecideCommand } from './commands/approvals-decide.ts';
import { approvalsListCommand } from './commands/approvals-list.ts';
import { approvalsShowCommand } from './commands/approvals-show.ts';
import { approvalsWaitCommand } from './commands/approvals-wait.ts';
import { auditEraseCommand } from './commands/audit-erase.ts';
import { auditExportCommand } from './commands/audit-export.ts';
import { auditQueryCommand } from './commands/audit-query.ts';
import { auditRotateKeyCommand } from './commands/audit-rotate-key.ts';
import { auditTailCommand } from './commands/audit-tail.ts';
import { auditVerifyCommand } from './commands/audit-verify.ts';
import { callCommand } from './commands/call.ts';
import { callsCancelCommand } from './commands/calls-cancel.ts';
import { callsListCommand } from './commands/calls-list.ts';
import { callsResolveCommand } from './commands/calls-resolve.ts';
import { callsShowCommand } from './commands/calls-show.ts';
import { callsWaitCommand } from './commands/calls-wait.ts';
import { catalogListCommand } from './commands/catalog-list.ts';
import { catalogShowCommand } from './commands/catalog-show.ts';
import { configShowCommand } from './commands/config-show.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { explainCommand } from './commands/explain.ts';
import { gatewayCommand } from './commands/gateway.ts';
import { grantsListCommand } from './commands/grants-list.ts';
import { grantsRevokeCommand } from './commands/grants-revoke.ts';
import { messagesListCommand } from './commands/messages-list.ts';
import { messagesRetryCommand } from './commands/messages-retry.ts';
import { messagesShowCommand } from './commands/messages-show.ts';
import { pauseCommand } from './commands/pause.ts';
import { policyCheckCommand } from './commands/policy-check.ts';
import { policySetCommand } from './commands/policy-set.ts';
import { policyShowCommand } from './commands/policy-show.ts';
import { sessionsEndRunCommand } from './commands/sessions-end-run.ts';
import { sessionsListCommand } from './commands/sessions-list.ts';
import { sessionsOpenCommand } from './commands/sessions-open.ts';
import { sessionsRevokeCommand } from './commands/sessions-revoke.ts';
import { storeAclCommand } from './commands/store-acl.ts';
import { storeAdoptCommand } from './commands/store-adopt.ts';
import { storeBackupCommand } from './commands/store-backup.ts';
import { storeRestoreCommand } from './commands/store-restore.ts';
import { storeUpgradeCommand } from './commands/store-upgrade.ts';
import { tokensCreateCommand } from './commands/tokens-create.ts';
import { tokensListCommand } from './commands/tokens-list.ts';
import { tokensRevokeCommand } from './commands/tokens-revoke.ts';
import { workerCommand } from './commands/worker.ts';
import { workersCommand } from './commands/workers.ts';
import { usage } from './command-failure.ts';
import { ConfigOption, SingleOption } from './single-option.ts';

const EXIT_HELP = `
Exit codes: 0 ok, 1 the call ended otherwise or nothing was done, 2 usage, 69 something is not available,
77 not allowed, 78 configuration, 130 second Ctrl-C.`;

/** The whole command line. Everything is parsed strictly; errors are thrown and told in one place. */
export function createProgram(): Command {
  const program = new Command('sallyport')
    .description('A guarded door between AI agents and their tools.')
    .version(RELEASE)
    .addOption(new SingleOption('--config <path>', 'configuration file (default: sallyport.yaml, .yml or .json here)'))
    .addOption(new Option('--json', 'print JSON, and only JSON, on standard output'))
    .addOption(new Option('--debug', 'show the full cause of an error'))
    .addOption(new SingleOption('--token <token>', '', refuseToken).hideHelp())
    .addHelpText('after', EXIT_HELP);
  for (const path of ['store', 'folder', 'redis.url', 'redis.name', 'log.level'])
    program.addOption(new ConfigOption(path));

  add(program, [devCommand(), workerCommand(), gatewayCommand(), callCommand()]);
  addGroup(program, 'calls', 'Calls under way and their outcomes', [
    callsListCommand(),
    callsShowCommand(),
    callsWaitCommand(),
    callsCancelCommand(),
    callsResolveCommand(),
  ]);
  addGroup(program, 'approvals', 'Questions to people about calls', [
    approvalsListCommand(),
    approvalsShowCommand(),
    approvalsWaitCommand(),
    approvalsDecideCommand(),
  ]);
  addGroup(program, 'grants', 'Remembered answers to them', [grantsListCommand(), grantsRevokeCommand()]);
  addGroup(
    program,
    'messages',
    'What tools sent to platforms, and what could not be sent',
    [messagesShowCommand(), messagesRetryCommand()],
    messagesListCommand(),
  );
  addGroup(program, 'catalog', 'What is published', [catalogShowCommand()], catalogListCommand());
  addGroup(program, 'sessions', 'Who calls are made for', [
    sessionsOpenCommand(),
    sessionsListCommand(),
    sessionsEndRunCommand(),
    sessionsRevokeCommand(),
  ]);
  addGroup(program, 'tokens', 'Who gets in at the gateway', [
    tokensCreateCommand(),
    tokensListCommand(),
    tokensRevokeCommand(),
  ]);
  addGroup(program, 'policy', 'Who may use which tool', [
    policyShowCommand(),
    policySetCommand(),
    policyCheckCommand(),
  ]);
  addGroup(
    program,
    'agents',
    'Which tools each agent has',
    [agentsShowCommand(), agentsSetCommand(), agentsRemoveCommand()],
    agentsListCommand(),
  );
  addGroup(program, 'audit', 'What was decided, and how it ended', [
    auditTailCommand(),
    auditQueryCommand(),
    auditVerifyCommand(),
    auditExportCommand(),
    auditEraseCommand(),
    auditRotateKeyCommand(),
  ]);
  add(program, [explainCommand(), pauseCommand(), workersCommand(), doctorCommand()]);
  addGroup(program, 'store', 'Copies of the store, and the way out when its data was lost', [
    storeBackupCommand(),
    storeRestoreCommand(),
    storeAdoptCommand(),
    storeUpgradeCommand(),
    storeAclCommand(),
  ]);
  addGroup(program, 'config', 'Options and where they come from', [configShowCommand()]);
  quieten(program);
  return program;
}

/** Arguments of a process can be read by everybody on the machine, and stay in the shell's history. */
function refuseToken(): never {
  throw usage('A token does not belong on the command line.', 'Put the session into a file: --session-file FILE');
}

function add(parent: Command, commands: readonly Command[]): void {
  for (const command of commands) parent.addCommand(command);
}

function addGroup(
  program: Command,
  name: string,
  description: string,
  commands: readonly Command[],
  first?: Command,
): void {
  const group = new Command(name).description(description);
  add(group, commands);
  if (first !== undefined) addDefault(group, first);
  program.addCommand(group);
}

/** `catalog` means `catalog list`; a mistyped subcommand must not be taken for its argument. */
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
      near === undefined ? 'See sallyport --help' : `Did you mean ${near}?`,
    );
  });
}

/** Commander throws instead of printing and ending the process; help is the only thing it prints. */
function quieten(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) quieten(child);
}
