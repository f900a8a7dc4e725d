import { Redis } from 'ioredis';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { GROUP, laneKeys } from '../../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { randomId } from '../../../src/domain/identity/new-id.ts';
import { openDirectStore } from '../../embedded/direct-store.ts';
import { eventually } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';

/** Longer than any case takes, so no lease runs out by itself. The store lets no lease run out until the server has been up for this long. */
const REDIS_LEASE_MS = 15_000;
/**
 * The clock of the embedded store stands still, except when a test lets leases run out: then it is moved by one lease. The lease is short, so
 * that this move passes no call's deadline.
 */
const EMBEDDED_LEASE_MS = 10;

/** A store whose leases run out when a test asks for it. */
export interface LapsingStore {
  readonly store: Store;
  readonly leaseMs: number;
  /** Lets these leases run out: as if they had not been renewed for longer than `leaseMs`. */
  lapse(deliveries: readonly Delivery[]): Promise<void>;
}

/** Stores that share nothing; they are used once and deleted. */
export interface LapsingStores {
  open(count: number): Promise<readonly LapsingStore[]>;
  /** Closes the stores that were opened last, and deletes their data. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Redis counts an entry's idle time itself. XCLAIM may set it to any value, and with JUSTID leaves the delivery count unchanged. */
export async function redisLapsingStores(): Promise<LapsingStores> {
  // No data of this server is needed after a crash, and syncing a file of millions of commands takes time.
  const server = await startRedis({ appendfsync: 'everysec' });
  const link = new Redis(server.url);
  const isOldEnough = async (): Promise<boolean> =>
    Number(/^uptime_in_seconds:(\d+)/m.exec(await link.info('server'))?.[1]) * 1000 >= REDIS_LEASE_MS;
  await eventually(isOldEnough, { what: 'a server that is older than a lease' });
  let opened: Store[] = [];
  const openOne = async (): Promise<LapsingStore> => {
    const name = `interleaved-${randomId()}`;
    const store = await openRedisStore({ url: server.url, name });
    opened.push(store);
    const lapse = async (deliveries: readonly Delivery[]): Promise<void> => {
      for (const { lane, pool, workerId, entryId } of deliveries) {
        const stream = laneKeys(name, lane).stream(pool);
        await link.call('XCLAIM', stream, GROUP, workerId, '0', entryId, 'IDLE', String(REDIS_LEASE_MS * 2), 'JUSTID');
      }
    };
    return { store, leaseMs: REDIS_LEASE_MS, lapse };
  };
  const clear = async (): Promise<void> => {
    for (const store of opened) await store.close();
    opened = [];
    await link.flushall();
  };
  return {
    open: (count) => Promise.all(Array.from({ length: count }, openOne)),
    clear,
    stop: async () => {
      await clear();
      link.disconnect();
      await server.stop();
    },
  };
}

/** The embedded store reads the time from a clock, which is moved forward here. A lease that is renewed after that counts from the new time. */
export function embeddedLapsingStores(): LapsingStores {
  let opened: { remove(): void }[] = [];
  const openOne = (): LapsingStore => {
    let now = Date.now();
    const direct = openDirectStore({ now: () => now });
    direct.database.execute('PRAGMA synchronous = OFF');
    opened.push(direct);
    const lapse = async (): Promise<void> => void (now += EMBEDDED_LEASE_MS * 2);
    return { store: direct.store, leaseMs: EMBEDDED_LEASE_MS, lapse };
  };
  const clear = async (): Promise<void> => {
    for (const direct of opened) direct.remove();
    opened = [];
  };
  return { open: async (count) => Array.from({ length: count }, openOne), clear, stop: clear };
}
