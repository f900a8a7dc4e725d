import { join } from 'node:path';
import { parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { adoptStore, inspectAdoptionOf } from '../../src/operate/adopt-store.ts';
import { backupStore, restoreStore } from '../../src/operate/backup-store.ts';
import { openStore, type StoreOptions } from '../../src/operate/open-store.ts';
import { keepsTrail, type AnyStore, type Store } from '../../src/domain/ports/store.ts';
import {
  acceptMany,
  acceptOne,
  claimMany,
  openSession,
  settleRequest,
  type TestSession,
} from '../contract/fixtures.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis-server.ts';

// Each test starts a dozen processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder('sallyport-load')));
afterEach(() => folder.remove());

/** The number of calls before the backup: enough that the copy takes many steps and that writes fall between them. */
const BEFORE = 3000;
const quiet = { onProgress: () => undefined };

/** Accepts and settles until it is stopped. Every settled call has one audit record. */
function keepWriting(store: Store, session: TestSession): { stop(): Promise<number> } {
  let isStopped = false;
  let settled = 0;
  const writing = (async () => {
    while (!isStopped) {
      await Promise.all(Array.from({ length: 16 }, () => acceptOne(store, session)));
      const deliveries = await claimMany(store, { limit: 16 });
      await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
      settled += deliveries.length;
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await writing;
      return settled;
    },
  };
}

/**
 * Returns the call ids in the audit of a restored store. An embedded store keeps the trail of the original store and begins a new one;
 * a lane of Redis has the records that were not drained.
 */
async function auditOf(store: AnyStore): Promise<(string | undefined)[]> {
  const trail = keepsTrail(store) ? store : undefined;
  // The order of the heads does not say which trail came first. The trail of the original store is the longer one.
  const [head] = ((await trail?.auditHeads()) ?? []).toSorted((one, other) => other.sequence - one.sequence);
  const ids: (string | undefined)[] = [];
  for (;;) {
    const range = { lane: 0, fromSequence: ids.length + 1, limit: 500 };
    const page: readonly { readonly sequence: number; readonly callId?: string }[] =
      trail === undefined || head === undefined
        ? await store.readAudit(range)
        : (await trail.readTrail({ ...range, store: head.store })).map(({ text }) => parseRecord(text)!);
    if (page.length === 0) return ids;
    expect(page[0]!.sequence).toBe(ids.length + 1);
    ids.push(...page.map(({ callId }) => callId));
  }
}

async function onEmbedded(work: (source: StoreOptions, target: StoreOptions) => Promise<void>): Promise<void> {
  const at = (name: string): StoreOptions => ({ store: 'embedded', folder: join(folder.path, name) });
  await work(at('source'), at('target'));
}

async function onRedis(work: (source: StoreOptions, target: StoreOptions) => Promise<void>): Promise<void> {
  const server = await startRedis();
  const at = (name: string): StoreOptions => ({ store: 'redis', redis: { url: server.url, name } });
  try {
    await work(at('source'), at('target'));
  } finally {
    await server.stop();
  }
}

describe.each([
  ['embedded', onEmbedded],
  ['redis', onRedis],
])('a copy of the %s store, made under writes', (_, onStore) => {
  it('is whole: its audit has no gap, every record of it is a settled call, and nothing settled lacks one', async () => {
    await onStore(async (source, target) => {
      const store = await openStore(source);
      const session = await openSession(store);
      await acceptMany(store, session, 40);
      for (let count = 0; count < BEFORE; count += 40) {
        const deliveries = await claimMany(store, { limit: 40 });
        await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
        await Promise.all(deliveries.map(() => acceptOne(store, session)));
      }
      const writer = keepWriting(store, session);
      const beside = source.store === 'embedded' ? { ...source, mode: 'connect' as const } : source;
      const manifest = await backupStore(beside, { folder: join(folder.path, 'copy'), pauseMs: 8000, ...quiet });
      expect(await writer.stop()).toBeGreaterThan(0);
      await store.close();

      await restoreStore(target, { folder: join(folder.path, 'copy'), ...quiet });
      await adoptStore(target, await inspectAdoptionOf(target), { rerun: true, retentionMs: 1000 });
      const restored = await openStore(target);
      const audit = await auditOf(restored);
      expect(audit).toHaveLength(manifest.lanes[0]!.auditSequence);
      // Records about sessions have no call id.
      for (const callId of audit.filter((id) => id !== undefined)) {
        expect(await restored.readCall(callId as never)).toMatchObject({ state: 'settled' });
      }
      const live = await restored.listCalls({ limit: 10_000 });
      expect(live).toHaveLength(manifest.lanes[0]!.liveCalls);
      expect(live.filter(({ callId }) => audit.includes(callId))).toStrictEqual([]);
      // Every live call is queued or leased, so a worker can take it.
      const [states] = await restored.queueState();
      expect(states!.queued + states!.leased).toBe(live.length);
      await restored.close();
    });
  });
});
