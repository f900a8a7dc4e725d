import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import { EMPTY_CATALOG, type Catalog } from '../../domain/tool/catalog.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { isPrivatePool, nestedPool } from '../../domain/identity/ids.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import { CLOSED_POLICY, type Policy, type PolicyRecord } from '../../domain/policy/policy.ts';
import type { CatalogStore, WriteCatalogAnswer } from '../../domain/ports/catalog-store.ts';
import type { FleetRegistry, WorkerBeat, WorkerEntry } from '../../domain/ports/fleet-registry.ts';
import type { PolicyStore } from '../../domain/ports/policy-store.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { decode, encode } from '../../base/message-pack.ts';
import { recordOfPolicy, recordOfWithdrawal } from '../administrative-record.ts';
import { asBytes, asList, asNumber, asText, wordOf } from './answers.ts';
import { forgetPool } from './private-pools.ts';
import type { RedisContext } from './redis-context.ts';
import { pause } from '../../base/pause.ts';

/**
 * A lane whose policy version is this far ahead of the policy was overwritten by hand: operators cannot have written so many versions since
 * a failover or a backup.
 */
const FAR_AHEAD = 1_000_000;
/** How often `watchCatalog` polls the sequence of the catalog. */
const WATCH_EVERY_MS = 500;

export function createPolicyStore(context: RedisContext): PolicyStore & { repairLanes(): Promise<void> } {
  const key = context.deployment.policy;
  const laneNumbers = Array.from({ length: context.lanes }, (_, lane) => lane);

  /** Writes the policy version into a lane. `overwritten` is the lane's current version if it was written by hand and must be replaced. */
  async function writeLanePolicyVersion(lane: number, version: number, overwritten = ''): Promise<void> {
    const keys = { meta: context.lane(lane).meta };
    await context.fcall('advance_policy', { keys, args: { incarnation: context.incarnation, version, overwritten } });
  }

  async function readPolicy(): Promise<PolicyRecord> {
    const [version, body] = asList(await context.command('HMGET', key, 'version', 'body'));
    if (version === null) return { version: 0, policy: CLOSED_POLICY };
    return { version: asNumber(version), policy: JSON.parse(asText(body)) as Policy };
  }

  return {
    readPolicy,
    async readNewerPolicy({ after }) {
      const version = await context.command('HGET', key, 'version');
      return (version === null ? 0 : asNumber(version)) > after ? readPolicy() : undefined;
    },
    async writePolicy(request) {
      const { expectedVersion: expected, policy } = request;
      // The audit record states the difference between the policy read here and the new one. The function writes nothing if the version
      // read here is no longer the current one, so the difference is always the right one.
      const { policy: before } = await readPolicy();
      const { event, detail } = recordOfPolicy(before, policy, expected + 1, request);
      const { meta, audit } = context.lane(DEPLOYMENT_LANE);
      const answer = await context.fcall('write_policy', {
        keys: { meta, audit, policy: key },
        args: { incarnation: context.incarnation, expected, body: canonicalJson(policy), event, detail },
      });
      const version = asNumber(asList(answer)[1]);
      if (wordOf(answer) !== 'WRITTEN') return { kind: 'conflict', version };
      for (const lane of laneNumbers) await writeLanePolicyVersion(lane, version);
      return { kind: 'written', version };
    },
    /**
     * Repairs the policy version of lanes. A lane may be behind the policy record, because the process that wrote the record died before it
     * wrote the lanes; such a lane gets the version of the record. A value that is not a number, or far ahead of the record (which is read
     * after the lanes), was written by hand and is replaced: any client's password allows an attacker to write it. A lane that is only a
     * little ahead stays as it is, because the record may have lost versions in a failover, and no call may run under an older policy.
     */
    async repairLanes() {
      const found = await Promise.all(
        laneNumbers.map((lane) => context.command('HGET', context.lane(lane).meta, 'policyVersion')),
      );
      const written = await context.command('HGET', key, 'version');
      if (written === null) return;
      const version = asNumber(written);
      const wrong = laneNumbers.filter((lane) => String(found[lane]) !== String(version));
      await Promise.all(
        wrong.map((lane) => {
          const isByHand = !(Number(found[lane]) <= version + FAR_AHEAD);
          return writeLanePolicyVersion(lane, version, isByHand ? String(found[lane]) : '');
        }),
      );
    },
  };
}

export function createCatalogStore(context: RedisContext): CatalogStore {
  const key = context.deployment.catalog;

  async function readCatalog(): Promise<Catalog> {
    const [version, digest, body] = asList(await context.commandForBytes('HMGET', key, 'version', 'digest', 'body'));
    if (version === null) return EMPTY_CATALOG;
    return {
      sequence: asNumber(version),
      digest: asText(digest),
      modules: decode(asBytes(body)) as ModuleDeclaration[],
    };
  }

  return {
    readCatalog,
    async watchCatalog({ after, waitMs }) {
      const until = performance.now() + waitMs;
      for (;;) {
        const version = await context.command('HGET', key, 'version');
        if (version !== null && asNumber(version) > after) return readCatalog();
        const left = until - performance.now();
        if (left <= 0) return undefined;
        await pause(Math.min(WATCH_EVERY_MS, left));
      }
    },
    async writeCatalog({ expectedSequence, digest, modules }) {
      const answer = await context.fcall('write_versioned', {
        keys: { record: key },
        args: { expected: expectedSequence, digest, body: encode(modules) },
      });
      return readAnswer(answer);
    },
    async withdrawModules(request) {
      const { expectedSequence: expected, digest, modules } = request;
      const { event, detail } = recordOfWithdrawal(request);
      const { meta, audit } = context.lane(DEPLOYMENT_LANE);
      const { incarnation } = context;
      return readAnswer(
        await context.fcall('withdraw_modules', {
          keys: { meta, audit, record: key },
          args: { incarnation, expected, digest, body: encode(modules), event, detail },
        }),
      );
    },
  };
}

function readAnswer(answer: unknown): WriteCatalogAnswer {
  const sequence = asNumber(asList(answer)[1]);
  return wordOf(answer) === 'WRITTEN' ? { kind: 'written', sequence } : { kind: 'conflict', sequence };
}

export function createFleetRegistry(context: RedisContext): FleetRegistry {
  const { workers, worker } = context.deployment;
  /**
   * What a worker serves has a key of its own, next to the key that each beat writes: it can be large, and is written only when the worker
   * registers.
   */
  const serves = (workerId: string): string => `${worker(workerId)}:serves`;

  async function write(key: string, workerId: string, entry: object, ttlMs: number): Promise<void> {
    await context.fcall('register_worker', {
      keys: { worker: key, workers },
      args: { workerId, entry: encode(entry), ttlMs },
    });
  }

  return {
    async registerWorker({ worker: { modules, toolDigests, broken, ...beat }, ttlMs }) {
      const { workerId } = beat;
      // A worker is listed only when it has both keys, so the beat is written last.
      await write(serves(workerId), workerId, { modules, toolDigests, broken }, ttlMs);
      await write(worker(workerId), workerId, beat, ttlMs);
    },
    async beatWorker({ worker: beat, ttlMs }) {
      const { workerId } = beat;
      if ((await context.command('PEXPIRE', serves(workerId), String(ttlMs))) === 0) return 'unknown';
      await write(worker(workerId), workerId, beat, ttlMs);
      return 'beaten';
    },
    async deregisterWorker(workerId) {
      const stored = await context.commandForBytes('GET', worker(workerId));
      if (stored !== null) await forgetConsumer(context, decode(asBytes(stored)) as WorkerBeat);
      await context.command('DEL', worker(workerId), serves(workerId));
      await context.command('SREM', workers, workerId);
    },
    async listWorkers() {
      const ids = asList(await context.command('SMEMBERS', workers))
        .map(asText)
        .sort();
      if (ids.length === 0) return [];
      const keys = ids.flatMap((id) => [worker(id), serves(id)]);
      const stored = asList(await context.commandForBytes('MGET', ...keys));
      const partsOf = (index: number): unknown[] => stored.slice(2 * index, 2 * index + 2);
      const gone = ids.filter((_, index) => partsOf(index).includes(null));
      if (gone.length > 0) await context.command('SREM', workers, ...gone).catch(ignoreReadOnly);
      return ids.flatMap((_, index) => {
        const [beat, serving] = partsOf(index);
        if (beat === null || serving === null) return [];
        return [{ ...(decode(asBytes(beat)) as object), ...(decode(asBytes(serving)) as object) } as WorkerEntry];
      });
    },
  };
}

/** Removes the worker's consumer where it holds no entries. Entries that it left are recovered by other workers. */
async function forgetConsumer(context: RedisContext, { pool, workerId }: WorkerBeat): Promise<void> {
  for (let lane = 0; lane < context.lanes; lane += 1) {
    for (const each of [pool, nestedPool(pool)]) {
      await context.fcall('reap_consumers', {
        keys: { stream: context.lane(lane).stream(each) },
        args: { idleMs: 0, consumer: workerId },
      });
    }
  }
  if (!isPrivatePool(pool)) return;
  for (const each of [pool, nestedPool(pool)]) await forgetPool(context, each, 0);
}

/** Removing stale ids is optional for a reader, which may lack the right to write. So an error of the store is ignored. */
function ignoreReadOnly(error: unknown): void {
  if (!(error instanceof PlaneError)) throw error;
}
