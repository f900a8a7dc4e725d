import type { Config } from '../config/config-schema.ts';
import { upstreamsOf } from '../config/upstream-schema.ts';
import type { TelemetryOptions } from '../observe/telemetry.ts';
import type { PlatformSettings } from '../domain/platform/platform-settings.ts';
import type { Log } from '../domain/ports/log.ts';
import { auditBoundsOf } from '../operate/audit-options.ts';
import type { ClientOptions } from './connect.ts';
import type { StoreOptions } from '../operate/open-store.ts';
import type { WorkerOptions } from './start-worker.ts';

export function workerOptionsOf(
  config: Config,
  store: StoreOptions,
  more: {
    readonly modules?: string;
    readonly watch: boolean;
    readonly log: Log;
    readonly telemetry?: TelemetryOptions;
  },
  /** The webhook secret that was read from its file. Used only if the configuration itself contains no secret. */
  webhookSecret?: string,
): WorkerOptions {
  const { pool, concurrency, leaseMs, heartbeatMs, graceMs, retentionMs, health, hooks } = config.worker;
  return {
    ...store,
    ...more,
    pool,
    concurrency,
    leaseMs,
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    graceMs,
    retentionMs,
    health: health.enabled ? { host: health.host, port: health.port ?? 0 } : false,
    admission: config.admission,
    ...(config.audit.sink === undefined ? {} : { audit: auditBoundsOf(config) }),
    ...(config.audit.auditorKeyFile === undefined ? {} : { auditor: { keyFile: config.audit.auditorKeyFile } }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(config.secrets.providers === undefined ? {} : { secrets: config.secrets.providers }),
    ...(config.redaction.keyFile === undefined ? {} : { redaction: { keyFile: config.redaction.keyFile } }),
    ...(config.services === undefined ? {} : { services: config.services }),
    ...(config.upstreams === undefined ? {} : { upstreams: upstreamsOf(config.upstreams) }),
    ...(config.worker.upstreamsFolder === undefined ? {} : { upstreamsFolder: config.worker.upstreamsFolder }),
    tasks: config.worker.tasks,
    outbound: platformSettingsOf(config),
    ...webhookOptionsOf(config, webhookSecret),
  };
}

export function clientOptionsOf(config: Config): Pick<ClientOptions, 'admission' | 'retentionMs'> {
  return { admission: config.admission, retentionMs: config.worker.retentionMs };
}

function webhookOptionsOf({ approvals }: Config, secretOfFile = ''): Pick<WorkerOptions, 'approvals'> {
  const { url, secret = secretOfFile, timeoutMs } = approvals.webhook;
  return url === undefined ? {} : { approvals: { webhook: { url, secret, timeoutMs } } };
}

/** The platform settings that workers need. They contain no secrets. */
function platformSettingsOf({ platforms = {}, effects }: Pick<Config, 'platforms' | 'effects'>): PlatformSettings {
  return {
    platforms: Object.fromEntries(
      Object.entries(platforms).map(([name, { channels, deliverWithinMs }]) => [name, { channels, deliverWithinMs }]),
    ),
    effectsPerCall: effects.perCall,
    bytesPerCall: effects.bytesPerCall,
    maxQueuedBytes: effects.queuedBytes,
  };
}
