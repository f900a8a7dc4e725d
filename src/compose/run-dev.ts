import type { Config } from '../config/config-schema.ts';
import { applyPolicyFile, type PolicyFile } from '../config/policy-file.ts';
import type { Policy, PolicyRecord } from '../domain/policy.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { readPlaneAddress } from '../stores/embedded/ownership.ts';
import { changePolicy } from './change-policy.ts';
import { openStore } from './open-store.ts';
import { storeOptionsOf, workerOptionsOf } from './settings-from-config.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';

export interface DevOptions {
  readonly config: Config;
  readonly modules: string;
  readonly policyFile: PolicyFile | undefined;
  readonly log: Log;
}

export interface RunningDev {
  readonly worker: RunningWorker;
  readonly policy: PolicyRecord;
  /** Where other processes reach the store. */
  readonly socket: string;
  /** Writes what the file says; what is paused, and which agents there are, stays unless the file speaks of it. */
  readonly applyPolicy: (file: PolicyFile) => Promise<PolicyRecord & { readonly changed: boolean }>;
  drain(): Promise<void>;
}

/** One person's own plane: every tool is open, except privileged ones, which need to be named. */
const OPEN_POLICY: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };

/** The embedded plane in one process: it owns the store, runs the tools, and loads modules again when they change. */
export async function runDev({ config, modules, policyFile, log }: DevOptions): Promise<RunningDev> {
  const worker = await startWorker(
    workerOptionsOf(config, storeOptionsOf(config, { mode: 'own' }), {
      modules,
      watch: config.worker.watch ?? true,
      log,
    }),
  );
  try {
    const store = await openStore(storeOptionsOf(config, { mode: 'connect' }));
    const applyPolicy = (file: PolicyFile) => changePolicy(store, ({ policy }) => applyPolicyFile(file, policy));
    const policy = policyFile === undefined ? await openNewStore(store) : await applyPolicy(policyFile);
    return {
      worker,
      policy,
      socket: readPlaneAddress(config.folder)?.socket ?? '',
      applyPolicy,
      async drain() {
        await store.close();
        await worker.drain();
      },
    };
  } catch (error) {
    await worker.drain();
    throw error;
  }
}

/** Only a policy that nobody has written yet is replaced. */
async function openNewStore(store: Store): Promise<PolicyRecord> {
  return changePolicy(store, ({ version, policy }) => (version === 0 ? OPEN_POLICY : policy));
}
