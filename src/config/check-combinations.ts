import { hostOfAddress } from '../base/http/host-of-address.ts';
import { subjectShares } from '../domain/call/subject-share.ts';
import { findWebhookProblem } from '../base/http/webhook-url.ts';
import { MIN_LIVE_BYTES, MIN_RETENTION_MS, type Config } from './config-schema.ts';
import type { Source } from './config-source.ts';
import { findTwiceProvided } from './secret-schema.ts';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Finds option values that are valid alone but impossible together. If two numbers contradict each other, the message contains both. */
export function findImpossible(config: Config, sourceOf: (path: string) => Source): string[] {
  const problems: string[] = [];
  const at = (path: string): string => {
    const { where } = sourceOf(path);
    return where === '' ? path : `${where}: ${path}`;
  };
  const { worker, admission } = config;
  const third = Math.floor(worker.leaseMs / 3);
  if (worker.heartbeatMs !== undefined && worker.heartbeatMs > third) {
    problems.push(`${at('worker.heartbeatMs')} ${worker.heartbeatMs} must be ≤ leaseMs/3 (${third})`);
  }
  if (worker.retentionMs < MIN_RETENTION_MS) {
    problems.push(`${at('worker.retentionMs')} ${worker.retentionMs} must be ≥ 24 hours (${MIN_RETENTION_MS})`);
  }
  const { owedMs } = config.gateway.mcp;
  if (owedMs !== undefined && owedMs > worker.retentionMs) {
    problems.push(`${at('gateway.mcp.owedMs')} ${owedMs} must be ≤ worker.retentionMs (${worker.retentionMs})`);
  }
  if (admission.liveBytes < MIN_LIVE_BYTES) {
    problems.push(
      `${at('admission.liveBytes')} ${admission.liveBytes} must be ≥ the arguments of one call (${MIN_LIVE_BYTES})`,
    );
  }
  problems.push(...findImpossibleShares(admission, at));
  if (admission.subjectWindow > admission.liveCalls) {
    problems.push(
      `${at('admission.subjectWindow')} ${admission.subjectWindow} must be ≤ liveCalls (${admission.liveCalls})`,
    );
  }
  for (const part of ['worker', 'gateway'] as const) {
    const { host, open, enabled } = config[part].health;
    if (enabled && !open && !LOOPBACK.test(host)) {
      problems.push(
        `${at(`${part}.health.host`)} ${host} can be reached from outside and has no login; set ${part}.health.open: true if that is meant`,
      );
    }
  }
  const { http } = config.gateway;
  if (http.enabled && !http.open && !LOOPBACK.test(http.host)) {
    problems.push(
      `${at('gateway.http.host')} ${http.host} can be reached from outside; set gateway.http.open: true if that is meant, and put TLS in front of it`,
    );
  }
  const twice = findTwiceProvided(config.secrets.providers ?? []);
  if (twice.length > 0) problems.push(`${at('secrets.providers')} has ${twice.join(', ')} twice`);
  return [
    ...problems,
    ...findImpossibleWebhook(config, at),
    ...findImpossibleAudit(config, at),
    ...findImpossibleRedis(config, sourceOf, at),
    ...findImpossibleTelemetry(config, at),
  ];
}

function findImpossibleAudit({ store, audit }: Config, at: (path: string) => string): string[] {
  const { sink, file, postgres, privileged, everything } = audit;
  const problems: string[] = [];
  if (sink !== undefined && store === 'embedded') {
    problems.push(`${at('audit.sink')} is given, but the embedded store keeps its audit itself`);
  }
  if (sink === 'postgres' && postgres.url === undefined) problems.push(`${at('audit.sink')} needs audit.postgres.url`);
  if (sink === 'sqlite' && file === undefined) problems.push(`${at('audit.sink')} needs audit.file`);
  if (sink !== 'sqlite' && file !== undefined) problems.push(`${at('audit.file')} needs audit.sink: sqlite`);
  if (sink !== 'postgres' && postgres.url !== undefined) {
    problems.push(`${at('audit.postgres.url')} needs audit.sink: postgres`);
  }
  if (postgres.password !== undefined && postgres.passwordFile !== undefined) {
    problems.push('audit.postgres.password and audit.postgres.passwordFile exclude each other');
  }
  for (const bound of ['records', 'lateMs'] as const) {
    if (audit.whenLate === 'refuse' && privileged[bound] > everything[bound]) {
      problems.push(
        `${at(`audit.privileged.${bound}`)} ${privileged[bound]} must be ≤ audit.everything.${bound} (${everything[bound]}): privileged calls are refused first`,
      );
    }
  }
  return problems;
}

function findImpossibleWebhook({ approvals: { webhook } }: Config, at: (path: string) => string): string[] {
  const { url, secret, secretFile } = webhook;
  const secrets = (['secret', 'secretFile'] as const).filter((name) => webhook[name] !== undefined);
  if (url === undefined) {
    return secrets.map((name) => `${at(`approvals.webhook.${name}`)} needs approvals.webhook.url`);
  }
  const place = at('approvals.webhook.url');
  const wrong = findWebhookProblem(url);
  return [
    ...(wrong === undefined ? [] : [`${place} ${wrong}`]),
    ...(secrets.length === 0 ? [`${place} needs approvals.webhook.secretFile, or secret`] : []),
    ...(secret !== undefined && secretFile !== undefined
      ? ['approvals.webhook.secret and approvals.webhook.secretFile exclude each other']
      : []),
  ];
}

/**
 * Headers may be sent only over https or to the same machine. An attacker who listens on the network could otherwise read them and write
 * to the collector in this plane's name.
 */
function findImpossibleTelemetry({ telemetry: { traces } }: Config, at: (path: string) => string): string[] {
  if (traces.headersFile === undefined) return [];
  const { protocol, hostname } = new URL(traces.endpoint);
  const host = hostOfAddress(traces.endpoint) ?? '';
  if (protocol === 'https:' || LOOPBACK.test(host.replaceAll(/[[\]]/g, ''))) return [];
  return [
    `${at('telemetry.traces.headersFile')} needs an https:// endpoint: its headers would go to ${hostname} in clear`,
  ];
}

function findImpossibleRedis(
  { store, redis }: Config,
  sourceOf: (path: string) => Source,
  at: (path: string) => string,
): string[] {
  const problems: string[] = [];
  const ways = (['url', 'cluster', 'sentinels'] as const).filter((name) => redis[name] !== undefined);
  if (store === 'embedded' && ways[0] !== undefined && sourceOf('store').kind === 'default') {
    problems.push(`${at(`redis.${ways[0]}`)} is given, but the store is embedded; set store: redis`);
  }
  if (ways.length > 1) problems.push(`${at(`redis.${ways[0]!}`)} and redis.${ways[1]!} exclude each other`);
  if (redis.sentinels !== undefined && redis.sentinelName === undefined) {
    problems.push(`${at('redis.sentinels')} needs redis.sentinelName`);
  }
  if (redis.sentinelName !== undefined && redis.sentinels === undefined) {
    problems.push(`${at('redis.sentinelName')} needs redis.sentinels`);
  }
  const inUrl = redis.url !== undefined && /^\w+:\/\/[^@/]*:[^@/]+@/.test(redis.url);
  const passwords = [redis.password, redis.passwordFile, inUrl || undefined].filter((given) => given !== undefined);
  if (passwords.length > 1) {
    problems.push('redis.password, redis.passwordFile and a password in redis.url exclude each other');
  }
  const { tls } = redis;
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    problems.push('redis.tls.certFile and redis.tls.keyFile need each other');
  }
  const files = [tls.caFile, tls.certFile, tls.keyFile].some((file) => file !== undefined);
  if (redis.url?.startsWith('redis://') === true && (tls.enabled || files)) {
    problems.push(`${at('redis.url')} is redis://, but redis.tls is given; write rediss://`);
  }
  return problems;
}

/** A subject's share must be large enough for one call with the largest arguments, and not larger than the limit that it is a part of. */
function findImpossibleShares(admission: Config['admission'], at: (path: string) => string): string[] {
  const { subjectLiveBytes, subjectParkedBytes, subjectRetainedBytes, liveBytes, retainedBytes } = admission;
  const given = { subjectLiveBytes, subjectParkedBytes, subjectRetainedBytes };
  const limits = [
    ['subjectLiveBytes', 'liveBytes', liveBytes],
    ['subjectParkedBytes', 'subjectLiveBytes', subjectShares(admission).liveBytes],
    ['subjectRetainedBytes', 'retainedBytes', retainedBytes],
  ] as const;
  return limits.flatMap(([name, whole, limit]) => {
    const value = given[name];
    if (value === undefined) return [];
    if (value > limit) return [`${at(`admission.${name}`)} ${value} must be ≤ ${whole} (${limit})`];
    if (value >= MIN_LIVE_BYTES) return [];
    return [`${at(`admission.${name}`)} ${value} must be ≥ the arguments of one call (${MIN_LIVE_BYTES})`];
  });
}
