import { Redis } from 'ioredis';
import type { Delivery } from '../../../src/ports/call-store.ts';
import type { Store } from '../../../src/ports/store.ts';
import { GROUP, laneKeys } from '../../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { randomId } from '../../../src/wire/ids.ts';
import { openDirectStore } from '../../embedded/direct-store.ts';
import { eventually } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';

/** Longer than any case takes: no lease runs out by itself. Until the server is as old, none runs out at all. */
const REDIS_LEASE_MS = 15_000;
/** The embedded clock stands still otherwise, and what it leaps over must not reach a deadline. */
const EMBEDDED_LEASE_MS = 10;

/** A store whose leases run out when a test says so. */
export interface LapsingStore {
  readonly store: Store;
  readonly leaseMs: number;
  /** These leases have not been renewed for longer than `leaseMs`. */
  lapse(deliveries: readonly Delivery[]): Promise<void>;
}

/** Stores that share nothing, to be used and thrown away. */
export interface LapsingStores {
  open(count: number): Promise<readonly LapsingStore[]>;
  /** Ends what was opened last, and deletes its data. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Redis counts an entry's idle time itself; it is set as XCLAIM lets everybody set it, which leaves the delivery count alone. */
export async function redisLapsingStores(): Promise<LapsingStores> {
  // What is lost with this server is nobody's loss, and a file of millions of commands takes time.
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

/** The embedded store takes its time from a clock, which is set. Renewed leases are renewed after that. */
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
