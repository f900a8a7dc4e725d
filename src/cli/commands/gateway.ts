import { countNoun } from '../../base/count-noun.ts';
import { Command } from 'commander';
import { auditOptionsOf } from '../../operate/audit-options.ts';
import { storeOptionsOf } from '../../operate/store-options.ts';
import { startGateway } from '../../compose/start-gateway.ts';
import { telemetryOptionsOf } from '../../compose/telemetry-options.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { createLog } from '../../observe/log.ts';
import { checkHost } from '../check-host.ts';
import { asTyped } from '../own-command.ts';
import { action, type CommandContext } from '../command-context.ts';
import { followConfig } from '../follow-config.ts';
import { createLevelledLog } from '../levelled-log.ts';
import { loginLinkCommand } from './gateway-login-link.ts';
import { platformSecretsOf } from '../platform-secrets.ts';
import { runUntilStopped } from '../run-until-stopped.ts';
import { ConfigOption } from '../single-option.ts';
import { passwordOf, traceHeadersOf } from '../with-store.ts';
import { auditPasswordOf } from '../with-trail.ts';

export function gatewayCommand(): Command {
  return new Command('gateway')
    .description(
      'Serve API, MCP and console over HTTP, keep the audit of a store and deliver what tools send, until SIGTERM',
    )
    .addOption(new ConfigOption('gateway.health.port'))
    .addOption(new ConfigOption('gateway.http.port'))
    .action(action(serve))
    .addCommand(loginLinkCommand());
}

async function serve(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const loaded = context.loadConfig();
  const { config } = loaded;
  const audit = auditOptionsOf(config, auditPasswordOf(config));
  if (config.store === 'redis' && audit.sink === undefined) throw planeError('AUDIT_SINK_MISSING', {});
  await checkHost(config, terminal, 'gateway');
  const log = createLevelledLog(config.log.level ?? 'info', createLog('debug'));
  const { enabled, host, port = 0 } = config.gateway.health;
  const gateway = await startGateway({
    ...storeOptionsOf(config, { password: passwordOf(config) }),
    audit,
    outbound: { config, secrets: platformSecretsOf(config) },
    health: enabled ? { host, port } : false,
    ...(config.gateway.http.enabled ? { http: config } : {}),
    telemetry: telemetryOptionsOf(config, traceHeadersOf(config)),
    log,
  });
  const following = await followConfig(context, loaded, { log, defaultLevel: 'info' });
  const drain = async (): Promise<void> => {
    await following?.close();
    await gateway.drain();
  };
  // Listen for signals before the gateway prints that it runs. A program that reads this line may stop the gateway at once.
  const stopped = runUntilStopped({ name: 'gateway', failed: gateway.failed, drain }, log, (signal) =>
    log.info({ signal }, 'draining'),
  );
  const { gatewayId, lanes, healthUrl, http } = gateway;
  if (terminal.json) terminal.printJson({ gatewayId, pid: process.pid, lanes, healthUrl, url: http?.url });
  else {
    const work =
      lanes === 0
        ? 'has nothing to drain: this store keeps its audit itself'
        : `drains ${countNoun(lanes, 'lane')} to ${config.audit.sink}`;
    terminal.print(`Gateway ${gatewayId} ${work}, process ${process.pid}`);
    if (http !== undefined) {
      terminal.print(`API: ${http.url}/v1, MCP: ${http.url}/mcp`);
      terminal.print(asTyped(`Console: ${http.url} (log in with: sallyport gateway login-link)`));
    }
    if (healthUrl !== undefined) terminal.print(`Health: ${healthUrl}/readyz`);
  }
  await stopped;
  log.info({}, 'drained');
}
