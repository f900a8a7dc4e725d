import { hostname } from 'node:os';
import type { Administered } from '../domain/identity/actor.ts';
import { nearNames } from '../base/near-names.ts';
import type { Config } from '../config/config-schema.ts';
import { applyPolicyFile, readPolicyFile, type PolicyFile } from '../gate/policy/policy-file.ts';
import { findNameWarnings, sayWarning } from '../gate/policy/name-warnings.ts';
import { checkRules } from '../gate/policy/rule-problems.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import type { Policy, PolicyRecord } from '../domain/policy/policy.ts';
import type { ModuleChanges } from './served-modules.ts';
import { startTelemetry, type Telemetry } from '../observe/telemetry.ts';
import type { ApprovalNotifier } from '../domain/ports/approval-notifier.ts';
import type { Log } from '../domain/ports/log.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { openEmbeddedStore } from '../stores/embedded/embedded-store.ts';
import { describeFullDisk } from '../stores/embedded/free-space.ts';
import { readPlaneAddress } from '../stores/embedded/ownership.ts';
import { auditOptionsOf } from '../operate/audit-options.ts';
import { byThisProcess } from '../operate/by-this-process.ts';
import { careForTrail } from './care-for-trail.ts';
import { changePolicy } from '../operate/change-policy.ts';
import { createClientOf } from './connect.ts';
import { openStore } from '../operate/open-store.ts';
import { RELEASE } from '../base/release.ts';
import { startOutbound } from './start-outbound.ts';
import type { RunningHttp } from './running-http.ts';
import { serveHttp } from './serve-http.ts';
import { clientOptionsOf, workerOptionsOf } from './settings-from-config.ts';
import { storeOptionsOf } from '../operate/store-options.ts';
import { telemetryOptionsOf } from './telemetry-options.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';
import { withdrawLeftModules, type LeftModules } from '../operate/withdraw-left-modules.ts';

export interface DevOptions {
  readonly config: Config;
  readonly modules?: string;
  readonly policyFile: PolicyFile | undefined;
  /** The secret of the approval webhook, read from its file. */
  readonly webhookSecret?: string | undefined;
  /** The secrets of the platforms, by platform name. */
  readonly platformSecrets?: Readonly<Record<string, string>>;
  /** The content of the file with the headers for the trace collector. */
  readonly traceHeaders?: string | undefined;
  /** Is notified of every question to a person, in addition to the webhook. */
  readonly approvals?: ApprovalNotifier | undefined;
  /** Called after each reload that found a new module or a changed one. */
  readonly onReload?: ((changes: ModuleChanges) => void) | undefined;
  readonly log: Log;
}

export interface RunningDev {
  readonly worker: RunningWorker;
  /** Modules that an earlier start published and that are no longer served. They were removed from the catalog. */
  readonly withdrawn: readonly ModuleDeclaration[];
  /** Modules of other pools. This process does not serve them; a worker of their pool does. */
  readonly leftOut: readonly ModuleDeclaration[];
  /** The telemetry of this process, for its other parts; undefined when it is off. */
  readonly telemetry: Telemetry | undefined;
  readonly policy: PolicyRecord;
  /** The socket where other processes reach the store. */
  readonly socket: string;
  /** API, MCP endpoint and console; undefined when they are switched off. */
  readonly http: RunningHttp | undefined;
  /**
   * Writes the policy of the file. Pauses, agents and rules stay unless the file mentions
   * them. Throws on rules that the published tools cannot meet.
   */
  readonly applyPolicy: (file: PolicyFile) => Promise<PolicyRecord & { readonly changed: boolean }>;
  drain(): Promise<void>;
}

/** The first policy of a developer's own plane: every tool is open, except privileged ones, which the policy must name. */
const OPEN_POLICY: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };

/** The default platform. A tool can send to it without any configuration, and `sallyport messages list` shows what was sent. */
const OWN_PLATFORM: NonNullable<Config['platforms']> = {
  console: { adapter: 'console', channels: 'session', deliverWithinMs: 24 * 60 * 60 * 1000 },
};

/** The embedded plane in one process: it owns the store, runs the tools, and loads modules again when they change. */
export async function runDev(options: DevOptions): Promise<RunningDev> {
  const { modules, policyFile, webhookSecret, platformSecrets = {}, log } = options;
  const config = { ...options.config, platforms: options.config.platforms ?? OWN_PLATFORM };
  const own = storeOptionsOf(config, { mode: 'own' });
  const watch = config.worker.watch ?? true;
  const needs = { role: 'dev', release: RELEASE, instance: randomId(), log } as const;
  const telemetry = await startTelemetry(telemetryOptionsOf(config, options.traceHeaders), needs);
  const ofWorker = workerOptionsOf(
    config,
    own,
    { ...(modules === undefined ? {} : { modules }), watch, log },
    webhookSecret,
  );
  let afterReload = async (_changes: ModuleChanges): Promise<void> => undefined;
  const parts = {
    openStore,
    telemetry,
    approvals: options.approvals,
    onReload: (changes: ModuleChanges) => afterReload(changes),
  };
  const worker = await startWorker(ofWorker, parts).catch(async (error: unknown) => {
    await telemetry?.close();
    throw error;
  });
  try {
    const store = await openEmbeddedStore({ folder: config.folder, mode: 'connect' });
    telemetry?.followStore(store);
    const withdrawLeft = (): Promise<LeftModules> => {
      const { workerId, loaded } = worker;
      const own = { workerId, pool: config.worker.pool, loaded };
      return withdrawLeftModules(store, own, byThisProcess('not served by this start of dev'));
    };
    // Withdraw the modules of earlier starts before the policy is applied, because its rules are compared with the published tools.
    const { withdrawn: all, ...first } = await withdrawLeft();
    const leftOut = worker.found.modules
      .map(({ declaration }) => declaration)
      .filter(({ pool }) => pool !== config.worker.pool);
    // A module that moved to another pool was withdrawn from this pool, but is not reported: it is among the modules of this start.
    const withdrawn = all.filter(({ id }) => !leftOut.some((module) => module.id === id));
    let { isHeldBack } = first;
    afterReload = async (changes) => {
      if (changes.added.length + changes.changed.length > 0) options.onReload?.(changes);
      if (!isHeldBack) return;
      const next = await withdrawLeft();
      isHeldBack = next.isHeldBack;
      const modules = next.withdrawn.map(({ id }) => id);
      if (modules.length > 0)
        log.warn({ modules }, 'withdrawn: published by an earlier start, not among the modules of this one');
    };
    let refused: { readonly atVersion: number; readonly file: PolicyFile } | undefined;
    const applyPolicy = async (file: PolicyFile) => {
      const tools = (await store.readCatalog()).modules.flatMap((module) => module.tools);
      const broken = worker.loaded.broken.map(({ id }) => id);
      const known = tools.length === 0 ? undefined : { tools, broken };
      refused = { atVersion: (await store.readPolicy()).version, file };
      const applied = await changePolicy(store, reader(config.policyFile), ({ policy }) => {
        const changed = applyPolicyFile(file, policy);
        for (const warning of checkRules(file, changed, known, nearNames))
          log.warn({ doubt: warning }, 'a rule may have no effect');
        for (const warning of findNameWarnings(changed, nearNames))
          log.warn({ doubt: sayWarning(warning, file) }, 'an agent of the policy may be misspelt');
        return changed;
      });
      refused = undefined;
      return applied;
    };
    const care = careForTrail(store, store, auditOptionsOf(config), log);
    const client = createClientOf(store, { ...clientOptionsOf(config), log });
    telemetry?.follow(client.events);
    const onAttempt = telemetry?.countEffect;
    // A policy file that was written together with a new module is read before the module is published.
    const applyRefused = async (): Promise<void> => {
      if (refused === undefined) return;
      // Who has set another policy since then, or made another mistake in the file, must not get the earlier file.
      if ((await store.readPolicy()).version !== refused.atVersion) refused = undefined;
      else
        await applyAgain(config.policyFile === undefined ? refused.file : readPolicyFile(config.policyFile, nearNames));
    };
    const applyAgain = async (file: PolicyFile): Promise<void> => {
      const { version, changed } = await applyPolicy(file);
      if (changed) log.warn({ version }, 'policy reloaded: what it names is published now');
    };
    client.watchCatalog(() => void applyRefused().catch(() => undefined));
    const outbound = startOutbound({ store, config, secrets: platformSecrets, log, onAttempt });
    const policy = policyFile === undefined ? await openNewStore(store) : await applyPolicy(policyFile);
    const http = config.gateway.http.enabled
      ? await serveHttp({
          gatewayId: `${hostname()}.${process.pid}`,
          config,
          store,
          client,
          trail: store,
          log,
          metricsText: telemetry?.metricsText,
          anyPort: true,
          readiness: () => {
            const fullDisk = describeFullDisk(config.folder);
            return fullDisk === undefined ? { ready: true, reasons: [] } : { ready: false, reasons: [fullDisk] };
          },
        })
      : undefined;
    return {
      worker,
      withdrawn,
      leftOut,
      telemetry,
      policy,
      http,
      socket: readPlaneAddress(config.folder)?.socket ?? '',
      applyPolicy,
      async drain() {
        await http?.close();
        // Stop deliveries before the worker: the worker owns the store and closes it. Pending effects are delivered after the next start.
        await outbound?.stop();
        await care.stop();
        // The client also closes its connection to the store.
        await client.close();
        await worker.drain();
        await telemetry?.close();
      },
    };
  } catch (error) {
    await worker.drain();
    await telemetry?.close();
    throw error;
  }
}

/** Writes the open policy if no policy was ever written. Any other policy stays. */
async function openNewStore(store: PolicyWriter): Promise<PolicyRecord> {
  return changePolicy(store, reader(undefined), ({ version, policy }) => (version === 0 ? OPEN_POLICY : policy));
}

/** The actor of the policy changes: this process, which applies a policy file or opens a new store. */
function reader(policyFile: string | undefined): Administered {
  const comment = policyFile === undefined ? 'the open policy of a new store' : `policy file ${policyFile}`;
  return byThisProcess(comment);
}
