import { Command } from 'commander';
import { workerOptionsOf } from '../../compose/settings-from-config.ts';
import { storeOptionsOf } from '../../operate/store-options.ts';
import { startWorker } from '../../compose/start-worker.ts';
import { telemetryOptionsOf } from '../../compose/telemetry-options.ts';
import { createLog } from '../../observe/log.ts';
import { checkHost } from '../check-host.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { describeVersions } from '../describe-versions.ts';
import { followConfig } from '../follow-config.ts';
import { createLevelledLog } from '../levelled-log.ts';
import { logEvents } from '../log-events.ts';
import { runUntilStopped } from '../run-until-stopped.ts';
import { ConfigOption } from '../single-option.ts';
import { passwordOf, traceHeadersOf, webhookSecretOf } from '../with-store.ts';

const FLAGS = ['worker.modules', 'worker.pool', 'worker.concurrency', 'worker.health.port', 'worker.watch'];

export function workerCommand(): Command {
  const command = new Command('worker').description('Run tools for the calls of a store, until SIGTERM');
  for (const path of FLAGS) command.addOption(new ConfigOption(path));
  return command.action(action(work));
}

async function work(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const loaded = context.loadConfig();
  const { config } = loaded;
  const { modules } = config.worker;
  if (modules === undefined && config.upstreams === undefined)
    throw usage('A worker needs modules.', 'Give --modules PATH, or worker.modules or upstreams in the configuration.');
  await checkHost(config, terminal);
  const log = createLevelledLog(config.log.level ?? 'info', createLog('debug'));
  const store = storeOptionsOf(config, { password: passwordOf(config) });
  const worker = await startWorker(
    workerOptionsOf(
      config,
      store,
      {
        ...(modules === undefined ? {} : { modules }),
        watch: config.worker.watch ?? false,
        log,
        telemetry: telemetryOptionsOf(config, traceHeadersOf(config)),
      },
      webhookSecretOf(config),
    ),
  );
  logEvents(worker.events, log);
  const following = await followConfig(context, loaded, { log, defaultLevel: 'info' });
  const drain = async (): Promise<void> => {
    await following?.close();
    await worker.drain();
  };
  // Listen for signals before the lines below are printed. A program that reads these lines may stop this process at once.
  const stopped = runUntilStopped({ name: 'worker', failed: worker.failed, drain }, log, (signal) =>
    log.info({ signal }, 'draining'),
  );
  const { workerId, healthUrl, loaded: served } = worker;
  const ids = served.modules.map(({ declaration }) => declaration.id);
  if (terminal.json)
    terminal.printJson({
      workerId,
      pid: process.pid,
      pool: config.worker.pool,
      healthUrl,
      modules: ids,
      broken: served.broken,
      ...worker.versions,
    });
  else {
    terminal.print(
      `Worker ${workerId} serves ${ids.join(', ') || 'nothing'} in pool ${config.worker.pool}, process ${process.pid}`,
    );
    for (const text of describeVersions(worker.versions)) terminal.print(text);
    if (healthUrl !== undefined) terminal.print(`Health: ${healthUrl}/readyz`);
  }
  for (const { id, reason } of served.broken)
    log.error({ module: id, reason }, 'module not loaded; the others are served');
  await stopped;
  log.info({}, 'drained');
}
