import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdOne, openSession, POOL } from '../../../../test/contract/fixtures.ts';
import { openDirectStore, type DirectStore } from '../../../../test/embedded/direct-store.ts';
import { temporaryFolder, type TemporaryFolder } from '../../../../test/support/process.ts';
import type { Store } from '../../../domain/ports/store.ts';
import { newWorkerId } from '../../../domain/identity/new-id.ts';

const LEASE_MS = 15_000;
const HOUR_MS = 3_600_000;
let folder: TemporaryFolder;
let direct: DirectStore;
let now: number;
const open = (): DirectStore => openDirectStore({ file: join(folder.path, 'store.sqlite'), now: () => now });
beforeEach(() => {
  now = 1_000_000_000_000;
  folder = temporaryFolder();
  direct = open();
});
afterEach(() => {
  direct.remove();
  folder.remove();
});

async function takeOver(store: Store): Promise<number> {
  const request = { lane: 0, pool: POOL, workerId: newWorkerId(), limit: 9, leaseMs: LEASE_MS };
  return (await store.reclaimCalls(request)).deliveries.length;
}

it('a lease that ran out while no process served can be renewed for one lease more', async () => {
  const session = await openSession(direct.store, { lifetimeMs: 9 * HOUR_MS, idleMs: 9 * HOUR_MS });
  const [lives, died] = [
    await holdOne(direct.store, session, { deadlineMs: 9 * HOUR_MS }),
    await holdOne(direct.store, session, { deadlineMs: 9 * HOUR_MS }),
  ];
  direct.remove();
  now += HOUR_MS;
  direct = open();
  now += LEASE_MS - 1;
  expect(await takeOver(direct.store)).toBe(0);
  expect(await direct.store.renewCalls({ lane: 0, calls: [lives] })).toEqual(['renewed']);
  now += 1;
  expect(await takeOver(direct.store)).toBe(1);
  expect(await direct.store.renewCalls({ lane: 0, calls: [lives, died] })).toEqual(['renewed', 'fenced']);
});
