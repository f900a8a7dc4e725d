import { planeError } from '../domain/errors/errors.ts';
import { NAME_PATTERN, type WorkerId } from '../domain/identity/ids.ts';
import type { SecretProvider } from '../domain/secret/secret-provider.ts';
import type { Upstream } from '../domain/upstream/upstream.ts';
import type { HookSource } from '../gate/hooks/load-hooks.ts';
import type { AuditBounds } from '../domain/ports/audit-store.ts';
import type { AdmissionLimits } from '../domain/ports/call-requests.ts';
import type { DiagnosticListener, DiagnosticSubscription } from '../domain/ports/events.ts';
import type { Log } from '../domain/ports/log.ts';
import type { TelemetryOptions } from '../observe/telemetry.ts';
import type { PlatformSettings } from '../domain/platform/platform-settings.ts';
import type { ProcessRunnerOptions } from '../worker/runners/process/process-runner.ts';
import type { ServiceEntries } from '../worker/services/load-services.ts';
import { newWorkerId } from '../domain/identity/new-id.ts';
import type { WebhookOptions } from '../worker/approval-webhook.ts';
import { DEFAULT_RETENTION_MS } from '../operate/defaults.ts';
import type { StoreOptions } from '../operate/open-store.ts';

export type WorkerOptions = StoreOptions & {
  /** A folder of modules, or a manifest. Absent: the worker serves MCP servers only. */
  readonly modules?: string;
  readonly pool?: string;
  readonly concurrency?: number;
  /** A worker that is silent for this long loses its calls. */
  readonly leaseMs?: number;
  readonly heartbeatMs?: number;
  readonly retentionMs?: number;
  /** How long a drain waits for calls under way. */
  readonly graceMs?: number;
  /** Where `/healthz` and `/readyz` are served; port 0 takes a free one; false serves none. */
  readonly health?: { readonly host?: string; readonly port: number } | false;
  /** Load modules again when their files change. */
  readonly watch?: boolean;
  readonly admission?: Partial<AdmissionLimits>;
  /** Hooks that are asked before calls and notified after them. They are loaded once; a restart loads them again. */
  readonly hooks?: readonly HookSource[];
  /** Objects that tools may ask for, in addition to or instead of the built-in ones. */
  readonly services?: ServiceEntries;
  /** The webhook that notifies approvers of questions, and of how they ended. */
  readonly approvals?: { readonly webhook?: WebhookOptions };
  /** How far the audit of a lane may be behind before calls are refused. Absent: no call is refused until a gateway sets the bounds. */
  readonly audit?: AuditBounds;
  /** Public key that the arguments of privileged calls are sealed to in the audit. Absent: they are not sealed. */
  readonly auditor?: { readonly keyFile: string };
  /** The providers of the secrets that tools may receive. */
  readonly secrets?: readonly SecretProvider[];
  /** The key of the marks that stand in place of secrets. Absent: a key file next to the embedded store; on Redis, a key of this process alone. */
  readonly redaction?: { readonly keyFile?: string };
  /** MCP servers that are modules of this worker. */
  readonly upstreams?: readonly Upstream[];
  /** Below it the programs among them have their home folders. Default: `upstreams` in the folder of the embedded store, or in `.sallyport`. */
  readonly upstreamsFolder?: string;
  /** Where tools may send, and how much. The gateway's side delivers it. Absent: tools cannot send. */
  readonly outbound?: Pick<PlatformSettings, 'platforms'> & Partial<PlatformSettings>;
  /** Serve the built-in module `tasks` in this pool: agents check, await and cancel their own long calls with it. */
  readonly tasks?: boolean;
  readonly processes?: ProcessRunnerOptions;
  readonly log?: Log;
  /** Traces to a collector, metrics on the health server. Absent: neither. */
  readonly telemetry?: TelemetryOptions;
  /** Receives the diagnostic events of this worker. More listeners can subscribe with `worker.events`. */
  readonly onEvent?: DiagnosticListener | DiagnosticSubscription;
};

export interface WorkerSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly retentionMs: number;
  readonly graceMs: number;
}

const DEFAULT_LEASE_MS = 15_000;
const MAX_CONCURRENCY = 4096;

/** Fills in defaults. Throws CONFIG_INVALID for settings that cannot work, with both numbers of a conflict. */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const settings: WorkerSettings = {
    workerId: newWorkerId(),
    pool: options.pool ?? 'default',
    concurrency: options.concurrency ?? 64,
    leaseMs,
    heartbeatMs: options.heartbeatMs ?? Math.floor(leaseMs / 3),
    retentionMs: options.retentionMs ?? DEFAULT_RETENTION_MS,
    graceMs: options.graceMs ?? 30_000,
  };
  const problems = problemsOf(settings);
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems });
  return settings;
}

function problemsOf(settings: WorkerSettings): string[] {
  const { pool, concurrency, leaseMs, heartbeatMs } = settings;
  const problems: string[] = [];
  if (!NAME_PATTERN.test(pool)) problems.push(`pool "${pool}" is not a name`);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    problems.push(`concurrency ${concurrency} must be a whole number from 1 to ${MAX_CONCURRENCY}`);
  }
  for (const name of ['leaseMs', 'heartbeatMs', 'retentionMs', 'graceMs'] as const) {
    const min = name === 'graceMs' ? 0 : 1;
    const value = settings[name];
    if (!Number.isInteger(value) || value < min) problems.push(`${name} ${value} must be ${min} or more`);
  }
  if (heartbeatMs > leaseMs / 3) {
    problems.push(`heartbeatMs ${heartbeatMs} must be ≤ leaseMs/3 (${Math.floor(leaseMs / 3)})`);
  }
  return problems;
}
