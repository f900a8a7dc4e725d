import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { MAX_OWED_PER_SUBJECT, type HoldOwedRequest } from '../../src/domain/ports/owed-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { callIdFor, newSessionId, randomId } from '../../src/domain/identity/new-id.ts';
import { HOUR_MS } from '../contract/fixtures.ts';
import { storeTimeAfter } from '../contract/observe.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let store: Store;
let name: string;
beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  name = `owed-${randomId()}`;
  store = await openRedisStore({ url: server.url, name, lanes: 1 });
});
afterEach(async () => {
  await server.cli('CONFIG', 'SET', 'maxmemory', '0');
  await store.close();
});
afterAll(() => server.stop());

const SESSION = newSessionId('acme', 'ida', 1);
const request = (holder: string, digest: string, more: Partial<HoldOwedRequest> = {}): HoldOwedRequest => ({
  callId: callIdFor(SESSION, randomId())!,
  digest,
  holder,
  lifetimeMs: HOUR_MS,
  leaseMs: 3000,
  ...more,
});

/** Deletes the heartbeat of a holder, as Redis does when the holder has not sent one for a minute. */
async function fallSilent(holder: string): Promise<void> {
  expect(await server.cli('DEL', `{${name}:0}:owed:beat:${holder}`)).toBe('1');
}

it('an entry that is held past its time goes when its gateway has been silent for a minute', async () => {
  const digest = sha256('a');
  const call = request('one', digest, { lifetimeMs: 10 });
  await store.holdOwed(call);
  await storeTimeAfter(store, (await store.now()) + 20);
  await fallSilent('one');
  expect(await store.holdOwed(request('two', digest, { of: call.callId }))).toEqual({ kind: 'none' });
});

it('entries of a gateway that died make room, and those of one that lives do not', async () => {
  const numbers = Array.from({ length: MAX_OWED_PER_SUBJECT }, (_, number) => String(number));
  await Promise.all(numbers.map((number) => store.holdOwed(request('dead', sha256(number)))));
  const asked = request('one', sha256('more'));
  expect(await store.holdOwed(asked)).toMatchObject({ kind: 'full' });
  await fallSilent('dead');
  expect(await store.holdOwed(asked)).toEqual({ kind: 'made' });
});

it('a store at its memory limit holds nothing, and says that it is full', async () => {
  await server.cli('CONFIG', 'SET', 'maxmemory', '1');
  const asked = request('one', sha256('a'));
  expect(await store.holdOwed(asked)).toEqual({ kind: 'full', of: 'store' });
  await server.cli('CONFIG', 'SET', 'maxmemory', '0');
  expect(await store.holdOwed({ ...asked, of: asked.callId })).toEqual({ kind: 'none' });
});
