import { countNoun } from '../base/count-noun.ts';
import { existsSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import type { AnyStore, IncarnationCheck, StoreLanes } from '../domain/ports/store.ts';
import { refuseUnsafeFolder } from '../stores/embedded/check-folder.ts';
import { readPlaneAddress, storeFile } from '../stores/embedded/ownership.ts';
import { refuseLostStore } from '../stores/embedded/store-traces.ts';
import { auditOptionsOf } from './audit-options.ts';
import { inspectApprovals } from './inspect-approvals.ts';
import { inspectAudit } from './inspect-audit.ts';
import { inspectDisk, inspectLaneUse, inspectPart } from './inspect-capacity.ts';
import { inspectRedis } from './inspect-redis.ts';
import { inspectFleet } from './inspect-fleet.ts';
import { inspectPolicy } from './inspect-policy.ts';
import { checkOf, type Check } from './check.ts';
import { openStore, type StoreOptions } from './open-store.ts';

/** Runs all checks of `doctor` and returns them in the order in which an operator should read them. Never creates a store. */
export async function inspectPlane(config: Config, options: StoreOptions | undefined): Promise<Check[]> {
  if (options?.store === 'redis') {
    const { checks, usable, mayReadQuestions } = await inspectRedis(options.redis);
    return usable ? [...checks, ...(await inspectStore(options, config, mayReadQuestions))] : checks;
  }
  const file = storeFile(config.folder);
  const unusable = findUnusable(config.folder);
  if (unusable !== undefined) return [unusable];
  if (options === undefined || !existsSync(file)) {
    return [{ name: 'store', state: 'bad', found: `${file} does not exist`, fix: 'sallyport dev --modules PATH' }];
  }
  const owner = readPlaneAddress(config.folder);
  const checks = await inspectStore(options, config, true);
  return [
    { name: 'durability', state: 'ok', found: 'embedded: kill -9 of any process and power loss lose nothing' },
    {
      name: 'owner',
      state: 'ok',
      found: owner === undefined ? 'nobody: the file is free' : `process ${owner.pid}, ${owner.socket}`,
    },
    inspectDisk(config.folder),
    ...checks,
  ];
}

/** Reports a folder whose store no command opens, before a missing store: in such a folder none may be started. */
function findUnusable(folder: string): Check | undefined {
  try {
    refuseUnsafeFolder(folder);
    refuseLostStore(folder);
    return undefined;
  } catch (error) {
    return describeProblem(error);
  }
}

function describeProblem(error: unknown): Check {
  if (!(error instanceof PlaneError)) throw error;
  return checkOf('store', error);
}

/**
 * Runs the checks that need an open store. `mayReadQuestions`: this user may read the questions to approvers, and not only their number.
 */
async function inspectStore(options: StoreOptions, config: Config, mayReadQuestions: boolean): Promise<Check[]> {
  let store: AnyStore;
  try {
    store = await openStore(options);
  } catch (error) {
    return [describeProblem(error)];
  }
  try {
    return [
      ...(await inspectPart('store', () => inspectIncarnation(store))),
      ...(await inspectPart('policy', () => inspectPolicy(store))),
      ...(await inspectPart('workers', () => inspectFleet(store))),
      ...(await inspectPart('retained bytes', async () => inspectLaneUse(await store.laneUse(), config.admission))),
      ...(await inspectPart('approvals', () =>
        inspectApprovals(store, {
          isWebhookSet: config.approvals.webhook.url !== undefined,
          mayRead: mayReadQuestions,
        }),
      )),
      ...(await inspectPart('audit', () =>
        inspectAudit(store, config.audit.sink !== undefined, auditOptionsOf(config).keys),
      )),
    ];
  } finally {
    await store.close();
  }
}

async function inspectIncarnation(store: StoreLanes & IncarnationCheck): Promise<Check[]> {
  await store.checkIncarnation();
  const lanes = countNoun(store.lanes, 'lane');
  return [{ name: 'store', state: 'ok', found: `reachable, ${lanes}, not replaced` }];
}
