import { hostname } from 'node:os';
import { drainLanes, type LaneDrains } from '../audit/drain-lanes.ts';
import { drainStatements } from '../audit/drain-statements.ts';
import type { Config } from '../config/config-schema.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { keepFinishingRevocations } from '../gateway/finish-revocations.ts';
import { createLog } from '../observe/log.ts';
import { startTelemetry, type Telemetry, type TelemetryOptions } from '../observe/telemetry.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { Log } from '../domain/ports/log.ts';
import { keepsTrail, type IncarnationCheck } from '../domain/ports/store.ts';
import { describeFullDisk } from '../stores/embedded/free-space.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { serveHealth, type Readiness } from '../worker/health-server.ts';
import type { AuditOptions } from '../operate/audit-options.ts';
import { careForTrail } from './care-for-trail.ts';
import { createClosers } from '../base/closers.ts';
import { createClientOf } from './connect.ts';
import { openSink } from '../operate/open-sink.ts';
import { openStore, type StoreOptions } from '../operate/open-store.ts';
import type { RunningHttp } from './running-http.ts';
import { serveHttp } from './serve-http.ts';
import { clientOptionsOf } from './settings-from-config.ts';
import { RELEASE } from '../base/release.ts';
import { startOutbound, type OutboundOptions } from './start-outbound.ts';

export type GatewayOptions = StoreOptions & {
  readonly audit: AuditOptions;
  /** Delivers the effects of tools to the configured platforms. Absent: other processes deliver them. */
  readonly outbound?: Pick<OutboundOptions, 'config' | 'secrets'>;
  /** A gateway that is silent for this long loses its lanes. */
  readonly leaseMs?: number;
  readonly health?: { readonly host?: string; readonly port: number } | false;
  /** Serves the API, the MCP endpoint and the console as `gateway.http` configures them. Absent: none of them. */
  readonly http?: Config;
  /** Traces of the calls made here, metrics of the plane. Absent: neither. */
  readonly telemetry?: TelemetryOptions;
  readonly log?: Log;
};

export interface GatewayParts {
  readonly openStore: typeof openStore;
}

export interface RunningGateway {
  readonly gatewayId: string;
  readonly healthUrl: string | undefined;
  readonly http: RunningHttp | undefined;
  /**
   * The number of subject lanes of the store. This gateway drains their audit, or would drain it if another gateway stopped. The lane of
   * the deployment is not counted. 0: the store keeps its audit itself, or there is no sink.
   */
  readonly lanes: number;
  /** Undefined when it is off. */
  readonly telemetry: Telemetry | undefined;
  /** Drains the pending records, signs the heads, and leaves the lanes to other gateways. */
  drain(): Promise<void>;
  /** Rejects when the gateway cannot continue, because its store was replaced. */
  readonly failed: Promise<never>;
}

const DEFAULT_LEASE_MS = 15_000;
const CHECK_STORE_MS = 2000;

/** Starts the parts of a gateway in this order: store, sink, keys, drains, health, HTTP. If the sink cannot be reached, the start fails. */
export async function startGateway(
  options: GatewayOptions,
  parts: GatewayParts = { openStore },
): Promise<RunningGateway> {
  const closers = createClosers();
  try {
    return await boot(options, parts, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function boot(
  options: GatewayOptions,
  parts: GatewayParts,
  closers: ReturnType<typeof createClosers>,
): Promise<RunningGateway> {
  const log = options.log ?? createLog('warn');
  const gatewayId = `${hostname()}.${process.pid}.${randomId().slice(0, 8)}`;
  const needs = { role: 'gateway', release: RELEASE, instance: gatewayId, log } as const;
  const telemetry = await startTelemetry(options.telemetry ?? {}, needs);
  closers.add(async () => telemetry?.close());
  if (options.store === 'redis') {
    const { checkRedisServer } = await import('../operate/check-redis-server.ts');
    await checkRedisServer(options.redis, 'gateway', log);
  }
  const store = await parts.openStore(options);
  const { http: config } = options;
  const client = config && createClientOf(store, { ...clientOptionsOf(config), log });
  closers.add(() => (client ?? store).close());
  telemetry?.followStore(store);
  if (client !== undefined) telemetry?.follow(client.events);
  const journals = keepsTrail(store) ? undefined : store;
  const sink =
    journals === undefined || options.audit.sink === undefined ? undefined : await openSink(options.audit.sink);
  if (sink !== undefined) closers.add(() => sink.close());
  const trail: AuditTrail | undefined = keepsTrail(store) ? store : sink;
  const care = trail && careForTrail(trail, store, options.audit, log);
  const { leaseMs = DEFAULT_LEASE_MS, audit } = options;
  const settings = { drainer: gatewayId, leaseMs, bounds: audit.bounds };
  const statements = sink && drainStatements(sink, audit.keys, { store, trustedKeys: audit.trustedKeys });
  const drains = sink && drainLanes(settings, { store: journals!, sink, statements: statements!, log });
  // Closers run in reverse order: the drains stop before the signing, so that what was drained last is signed too.
  if (care !== undefined) closers.add(() => care.stop());
  if (drains !== undefined) closers.add(() => drains.stop());
  const outbound =
    options.outbound && startOutbound({ ...options.outbound, store, log, onAttempt: telemetry?.countEffect });
  if (outbound !== undefined) closers.add(() => outbound.stop());

  let state: 'serving' | 'draining' = 'serving';
  const facts = { gatewayId, pid: process.pid };
  const folder = options.store === 'embedded' ? (options.folder ?? DEFAULT_FOLDER) : undefined;
  const readiness = (): Readiness => {
    const reasons = state === 'serving' ? problemsOf(drains, care?.problem) : ['the gateway is draining'];
    const fullDisk = folder === undefined ? undefined : describeFullDisk(folder);
    if (fullDisk !== undefined) reasons.push(fullDisk);
    const warning = care?.warning === undefined ? {} : { auditWarning: care.warning };
    return { ready: reasons.length === 0, reasons, facts: { ...facts, lanes: drains?.states ?? [], ...warning } };
  };
  const health =
    options.health === false
      ? undefined
      : await serveHealth({ host: '127.0.0.1', port: 0, ...options.health }, readiness);
  if (health !== undefined) closers.add(() => health.close());
  const metricsText = telemetry?.metricsText;
  // Finish interrupted revocations before the first request: a killed process may have left a revocation half done, and a question of such a
  // session could otherwise be allowed here.
  const revocations = await keepFinishingRevocations(store, log);
  closers.add(() => revocations.stop());
  const http =
    config === undefined || client === undefined || trail === undefined
      ? undefined
      : await serveHttp({ gatewayId, config, store, client, trail, log, readiness, metricsText });
  if (http !== undefined) closers.add(() => http.close());
  const watched = watchStore(store);
  closers.add(async () => watched.stop());

  let drained: Promise<void> | undefined;
  return {
    gatewayId,
    healthUrl: health?.url,
    http,
    lanes: drains === undefined ? 0 : store.lanes,
    telemetry,
    drain() {
      state = 'draining';
      return (drained ??= closers.closeAll());
    },
    failed: watched.replaced,
  };
}

function problemsOf(drains: LaneDrains | undefined, care: string | undefined): string[] {
  const ofLanes = (drains?.states ?? []).flatMap(({ lane, alarm, problem }) =>
    [alarm, problem].filter((each) => each !== undefined).map((each) => `audit of lane ${lane}: ${each}`),
  );
  return care === undefined ? ofLanes : [...ofLanes, `audit: ${care}`];
}

/** Rejects when the store was replaced by another one. Other errors of this check are ignored: the store may be reachable again later. */
function watchStore(store: IncarnationCheck): { readonly replaced: Promise<never>; stop(): void } {
  let fail!: (error: unknown) => void;
  const replaced = new Promise<never>((_, reject) => (fail = reject));
  replaced.catch(() => undefined);
  const timer = setInterval(() => {
    store.checkIncarnation().catch((error: unknown) => {
      if (error instanceof PlaneError && error.code === 'STORE_REPLACED') fail(error);
    });
  }, CHECK_STORE_MS);
  return { replaced, stop: () => clearInterval(timer) };
}
