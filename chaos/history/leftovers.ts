import type { Store } from 'sallyport/testing';
import type { RedisServer } from '../../test/support/redis-server.ts';
import type { History } from './history.ts';

const LANE = '{sallyport:0}:';
/** Keys that a drained deployment keeps: outcomes, audit, sessions, approvals, replies, empty queues, and the times to forget them. */
const KEPT =
  /:(calls|live|journal|drain|meta|retained|windows|sessions|runs|forget:.*|session:.*|reply:.*|recent:.*|approval:.*|approvals:.*|pool:default(~nested)?)$|^\{sallyport\}:/;

/** Checks the places that must be empty after all processes have ended. */
export async function findLeftovers(store: Store, redis: RedisServer | undefined): Promise<History['leftovers']> {
  const found: string[] = [];
  let places = 0;
  const look = (what: string, is: unknown, wanted: unknown): void => {
    places += 1;
    if (String(is) !== String(wanted)) found.push(`${what}: ${String(is).slice(0, 300)}, expected ${String(wanted)}`);
  };
  await reapConsumers(store);
  look('unsettled calls', (await store.listCalls({ limit: 100 })).map(({ callId }) => callId).join(' '), '');
  look('registered workers', (await liveWorkers(store)).join(' '), '');
  for (const { pool, queued, leased } of await store.queueState()) {
    look(`queued in ${pool}`, queued, 0);
    look(`leased in ${pool}`, leased, 0);
  }
  const pending = await store.listApprovals({ state: 'pending', limit: 100 });
  look('pending approvals', pending.map(({ question }) => question.id).join(' '), '');
  if (redis !== undefined) await lookAtKeys(redis, look);
  return { places, found };
}

const FORGOTTEN_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 250;

/** Waits until killed workers are no longer registered: a registration stays until it expires. */
async function liveWorkers(store: Store): Promise<string[]> {
  for (const giveUpAt = performance.now() + FORGOTTEN_WITHIN_MS; ;) {
    const workers = await store.listWorkers();
    if (workers.length === 0 || performance.now() > giveUpAt) return workers.map(({ workerId }) => workerId);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Removes the consumers of ended workers. Running workers do the same, but only for consumers that have been silent for ten minutes. */
async function reapConsumers(store: Store): Promise<void> {
  const none = new Uint8Array();
  await store.reapCalls({
    lane: 0,
    pools: ['default', 'default~nested'],
    limit: 100,
    overdueMs: 60_000,
    consumerIdleMs: 1,
    retentionMs: 60_000,
    expired: none,
    timedOut: none,
    mayHaveRun: none,
    bodyLost: none,
    approvalExpired: none,
    sessionEnded: none,
    audit: none,
  });
}

async function lookAtKeys(
  redis: RedisServer,
  look: (what: string, is: unknown, wanted: unknown) => void,
): Promise<void> {
  const lines = async (...command: string[]): Promise<string[]> =>
    (await redis.cli(...command)).split('\n').filter(Boolean);
  const keys = await lines('KEYS', '*');
  look('keys that nobody needs', keys.filter((key) => !KEPT.test(key)).join(' '), '');
  // One value of this hash is the time since when shares are counted. Each other value is the share of a subject. It may contain only the
  // bytes of kept outcomes; the numbers of live, parked and pending calls must be 0.
  const shares = keys.includes(`${LANE}windows`) ? await lines('HVALS', `${LANE}windows`) : [];
  look('shares that are still in use', shares.filter((use) => !/^(\d+|0 \d+ 0 0)$/.test(use)).join(' '), '');
  for (const stream of keys.filter((key) => key.startsWith(`${LANE}pool:`))) {
    look(`entries of ${stream}`, await redis.cli('XLEN', stream), 0);
    look(`pending entries of ${stream}`, (await lines('XPENDING', stream, 'workers'))[0], 0);
    look(`consumers of ${stream}`, (await lines('XINFO', 'CONSUMERS', stream, 'workers')).join(' '), '');
  }
  look('calls with a deadline', await redis.cli('ZCOUNT', `${LANE}live`, '-inf', '(+inf'), 0);
  look('bytes of live calls', await redis.cli('HGET', `${LANE}meta`, 'liveBytes'), 0);
  for (const key of keys.filter((name) => name.includes(':reply:'))) {
    look(`time to live of ${key} is set`, Number(await redis.cli('PTTL', key)) > 0, true);
  }
}
