import type { Config } from '../config/config-schema.ts';
import type { TelemetryOptions } from '../observe/telemetry.ts';
import type { PlatformSettings } from '../domain/platform/platform-settings.ts';
import type { Log } from '../domain/ports/log.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';
import { auditBoundsOf } from './audit-options.ts';
import type { ClientOptions } from './connect.ts';
import type { StoreOptions } from './open-store.ts';
import type { WorkerOptions } from './start-worker.ts';

/** Store settings that the configuration does not contain: the content of a password file, and how this process uses the store. */
export interface StoreUse {
  readonly password?: string | undefined;
  readonly mode?: 'own' | 'connect' | 'auto';
  readonly patienceMs?: number;
}

export function storeOptionsOf(config: Config, use: StoreUse = {}): StoreOptions {
  if (config.store === 'redis') return { store: 'redis', redis: redisOptionsOf(config, use) };
  const patience = use.patienceMs === undefined ? {} : { patienceMs: use.patienceMs };
  return { store: 'embedded', folder: config.folder, mode: use.mode ?? 'auto', ...patience };
}

function redisOptionsOf({ redis }: Config, use: StoreUse = {}): RedisStoreOptions {
  const { tls, passwordFile: _, patienceMs, password = use.password, ...rest } = redis;
  const { enabled, ...files } = defined(tls);
  const encrypted = enabled || Object.keys(files).length > 0;
  return {
    ...defined(rest),
    ...(password === undefined ? {} : { password }),
    ...(encrypted ? { tls: files } : {}),
    patienceMs: use.patienceMs ?? patienceMs,
  };
}

export function workerOptionsOf(
  config: Config,
  store: StoreOptions,
  more: {
    readonly modules: string;
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

type Defined<Given> = { [Name in keyof Given]: Exclude<Given[Name], undefined> };

/** Removes members that are undefined. Absent and undefined mean the same in a configuration, but not in options. */
function defined<Given extends object>(given: Given): Defined<Given> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<Given>;
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
