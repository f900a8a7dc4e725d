import { existsSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { Command } from 'commander';
import { RELEASE } from '../../base/release.ts';
import { findGatewayUrl } from '../../operate/gateway-url.ts';
import type { ModuleChanges } from '../../compose/served-modules.ts';
import { runDev, type RunningDev } from '../../compose/run-dev.ts';
import { DEFAULT_MODULES, type Config } from '../../config/config-schema.ts';
import { countNoun } from '../../base/count-noun.ts';
import type { LoadedModule } from '../../modules/catalog/loaded-module.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { checkHost } from '../check-host.ts';
import { action, type CommandContext } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { followConfig, readPolicyFileFor } from '../follow-config.ts';
import { createLevelledLog, createReadableLog } from '../levelled-log.ts';
import { logEvents } from '../log-events.ts';
import { asTyped, sameStoreCommand, shellWord } from '../own-command.ts';
import { runUntilStopped } from '../run-until-stopped.ts';
import { QuestionBoard, showQuestion } from '../show-question.ts';
import { ConfigOption } from '../single-option.ts';
import { describeVersions } from '../describe-versions.ts';
import type { Terminal } from '../terminal.ts';
import { platformSecretsOf } from '../platform-secrets.ts';
import { traceHeadersOf, webhookSecretOf } from '../with-store.ts';

const OPTIONS = [
  'worker.modules',
  'worker.health.port',
  'worker.concurrency',
  'worker.watch',
  'policyFile',
  'gateway.http.port',
];

export function devCommand(): Command {
  const command = new Command('dev').description(
    'Run the whole plane in this process, on one SQLite file, until Ctrl-C',
  );
  for (const path of OPTIONS) command.addOption(new ConfigOption(path));
  return command.action(action(dev));
}

async function dev(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const loaded = context.loadConfig();
  const { config } = loaded;
  if (config.store !== 'embedded') {
    throw new CommandFailure(
      'CONFIG_INVALID',
      EXIT.config,
      'dev runs the embedded store, but the configuration says redis.',
      'Use sallyport worker, or --store embedded.',
    );
  }
  await checkHost(config, terminal, 'dev');
  const log = createLevelledLog(config.log.level ?? 'warn', createReadableLog(terminal));
  const policyFile = config.policyFile === undefined ? undefined : readPolicyFileFor(log, config.policyFile);
  if (!terminal.json) terminal.note(`Sallyport ${RELEASE} is starting ...`);
  const modules = modulesOf(config);
  const secrets = {
    webhookSecret: webhookSecretOf(config),
    platformSecrets: platformSecretsOf(config),
    traceHeaders: traceHeadersOf(config),
  };
  const program = sameStoreCommand();
  const approvals = terminal.json ? undefined : boardOf(terminal, program, config);
  const onReload = ({ added, changed }: ModuleChanges): void => {
    const print = (what: string, { declaration, file }: LoadedModule): void =>
      terminal.json
        ? undefined
        : terminal.print(`${what}: ${describeModule(declaration)}${file === '' ? '' : `, from ${placeOf(file)}`}`);
    for (const module of added) print('Served from now on', module);
    for (const module of changed) print('Reloaded', module);
  };
  const running = await runDev({
    config,
    ...(modules === undefined ? {} : { modules }),
    policyFile,
    ...secrets,
    approvals,
    onReload,
    log,
  });
  logEvents(running.worker.events, log);
  const following = await followConfig(context, loaded, {
    log,
    defaultLevel: 'warn',
    applyPolicy: running.applyPolicy,
  });
  const loginLink = await running.http?.loginLink();
  const { failed } = running.worker;
  const drain = async (): Promise<void> => {
    await following?.close();
    await running.drain();
  };
  // Listen for signals before the lines below are printed. A program that reads these lines may stop this process at once.
  const stopped = runUntilStopped({ name: 'plane', failed, drain }, log, () =>
    terminal.note('\nWaiting for calls under way; again to end at once.'),
  );
  announce(terminal, running, { config, modules, loginLink, program });
  await stopped;
}

function boardOf(terminal: Terminal, program: string, config: Config): QuestionBoard {
  const consoleUrl = (): string | undefined => (config.gateway.http.enabled ? findGatewayUrl(config).url : undefined);
  return new QuestionBoard(
    (asked) => showQuestion(terminal, asked, { program, consoleUrl: consoleUrl() }, Date.now()),
    (count) =>
      terminal.warn(`${countNoun(count, 'more question')} to people arrived; all that wait: ${program} approvals list`),
  );
}

interface Announced {
  readonly config: Config;
  /** The folder or manifest that was given. */
  readonly modules: string | undefined;
  readonly loginLink: string | undefined;
  readonly program: string;
}

function announce(terminal: Terminal, running: RunningDev, announced: Announced): void {
  const { config, loginLink, program } = announced;
  const { worker, withdrawn, leftOut, policy, socket, http } = running;
  const { modules, broken } = worker.loaded;
  const folder = relative(process.cwd(), config.folder) || '.';
  const command = nextCommand(
    modules.flatMap(({ declaration }) => declaration.tools),
    program,
  );
  if (terminal.json) {
    const ids = modules.map(({ declaration }) => declaration.id);
    return terminal.printJson({
      pid: process.pid,
      folder: config.folder,
      socket,
      healthUrl: worker.healthUrl,
      url: http?.url,
      loginLink,
      policyVersion: policy.version,
      modules: ids,
      broken,
      ...worker.versions,
      withdrawn: withdrawn.map(({ id }) => id),
      leftOut: leftOut.map(({ id, pool }) => ({ id, pool })),
      try: command,
    });
  }
  const shown = modules.map(({ declaration }) => describeModule(declaration)).join(', ');
  terminal.print(`Sallyport ${RELEASE} is running, process ${process.pid}`, 'bold');
  terminal.printTable(undefined, [
    ['tools', modules.length === 0 ? { text: 'none', style: 'yellow' } : shown],
    ...broken.map(({ id, file, reason }) => {
      return ['not loaded', { text: `${id} (${placeOf(file)}): ${reason}`, style: 'red' as const }];
    }),
    ...describeVersions(worker.versions).map((text) => ['version', { text, style: 'yellow' as const }]),
    ...describeLeftOut(leftOut, announced).map((text) => ['left out', { text, style: 'yellow' as const }]),
    ...(withdrawn.length === 0 ? [] : [['withdrawn', describeWithdrawn(withdrawn)]]),
    ['store', `${folder}/store.sqlite`],
    ['policy', describePolicy(policy, config)],
    ['socket', `${socket} (written to ${folder}/plane.json)`],
    ...(http === undefined ? [] : [['mcp', `${http.url}/mcp (API: ${http.url}/v1)`]]),
    ['health', worker.healthUrl === undefined ? 'off' : `${worker.healthUrl}/readyz`],
  ]);
  if (loginLink !== undefined) terminal.print(`\nConsole, once, within ten minutes:\n\n  ${loginLink}`);
  terminal.print(`\nTry in a second terminal:\n\n  ${command}\n`);
  terminal.note('Ctrl-C ends it.');
}

/** Describes a module in one line with the number of its tools, resources and prompts, such as `notes (7, 2 resources)`. */
function describeModule({ id, tools, surfaces = [] }: ModuleDeclaration): string {
  const beside = (['resource', 'prompt'] as const).flatMap((kind) => {
    const count = surfaces.filter(({ surface }) => surface.kind === kind).length;
    return count === 0 ? [] : [countNoun(count, kind)];
  });
  return `${id} (${[tools.length, ...beside].join(', ')})`;
}

function placeOf(file: string): string {
  return relative(process.cwd(), file);
}

/** Without a name, the usual folder is served. With MCP servers it may be absent: then only those are served. */
function modulesOf(config: Config): string | undefined {
  const { modules } = config.worker;
  if (modules !== undefined) return modules;
  return config.upstreams === undefined || existsSync(DEFAULT_MODULES) ? DEFAULT_MODULES : undefined;
}

/** One line for each other pool, with the command that serves its modules. */
function describeLeftOut(left: RunningDev['leftOut'], { modules: path, program }: Announced): string[] {
  if (path === undefined) return [];
  const pools = [...new Set(left.map(({ pool }) => pool))];
  return pools.map((pool) => {
    const ids = left.filter((module) => module.pool === pool).map(({ id }) => id);
    // Modules of a folder belong to the pool of the worker, so a worker of another pool needs a manifest, which names the pools.
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const modules = isFolder ? 'MANIFEST' : shellWord(relative(process.cwd(), path));
    const command = `${program} worker --pool ${shellWord(pool)} --modules ${modules}`;
    const how = isFolder ? 'name it in a manifest, and start a worker for that' : 'start a worker for it';
    return `${ids.join(', ')} (pool ${pool}; ${how}: ${command})`;
  });
}

function describeWithdrawn(modules: RunningDev['withdrawn']): string {
  const ids = modules.map(({ id }) => id).join(', ');
  return `${ids}: published by an earlier start, not among the modules of this one`;
}

/** Describes what the policy allows, where it comes from and which command shows it. */
function describePolicy({ version, policy }: RunningDev['policy'], { policyFile }: Config): string {
  const isOpen = policy.permissions['*']?.allow?.includes('*') === true;
  const allows = isOpen ? 'everyone may call every tool that is not privileged' : 'only what it names may be called';
  const from =
    policyFile === undefined ? 'kept in the store' : `read from ${relative(process.cwd(), policyFile) || '.'}`;
  const rules = policy.rules?.length ?? 0;
  const narrowed = rules === 0 ? '' : `, under ${countNoun(rules, 'rule')}`;
  return asTyped(`${allows}${narrowed} (version ${version}, ${from}; see: sallyport policy show)`);
}

/**
 * The command to try first: a call of a `read` tool that is not privileged and needs no
 * arguments. If there is none, the command that lists the catalog.
 */
function nextCommand(tools: readonly ToolDeclaration[], program: string): string {
  const simple = tools.filter(
    ({ effect, privileged, inputSchema: { required } }) =>
      effect === 'read' && !privileged && (!Array.isArray(required) || required.length === 0),
  );
  const tool = simple.find(({ id }) => (id as string) === 'clock.now') ?? simple[0];
  return tool === undefined ? `${program} catalog` : `${program} call ${tool.id} '{}'`;
}
