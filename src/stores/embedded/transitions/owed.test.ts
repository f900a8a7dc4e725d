import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOUR_MS, reapRequest } from '../../../../test/contract/fixtures.ts';
import { openDirectStore, type DirectStore } from '../../../../test/embedded/direct-store.ts';
import type { CallId } from '../../../domain/identity/ids.ts';
import { MAX_OWED_PER_SUBJECT, type HoldOwedRequest } from '../../../domain/ports/owed-store.ts';
import { sha256 } from '../../../base/sha256.ts';
import { callIdFor, newSessionId, randomId } from '../../../domain/identity/new-id.ts';

let now: number;
let direct: DirectStore;
beforeEach(() => {
  now = 1_000_000_000_000;
  direct = openDirectStore({ now: () => now });
});
afterEach(() => direct.remove());

const SESSION = newSessionId('acme', 'ida', 1);
const SILENT_MS = 60_000;

const request = (holder: string, digest: string, more: Partial<HoldOwedRequest> = {}): HoldOwedRequest => ({
  callId: callIdFor(SESSION, randomId())!,
  digest,
  holder,
  lifetimeMs: 1000,
  leaseMs: 3000,
  ...more,
});
const hold = (asked: HoldOwedRequest) => direct.store.holdOwed(asked);
const take = (of: CallId, digest: string) => hold(request('two', digest, { of }));

it('an entry that is held past its time goes when its gateway has been silent for a minute', async () => {
  const digest = sha256('a');
  const call = request('one', digest);
  await hold(call);
  now += SILENT_MS - 1;
  await direct.store.reapCalls(reapRequest(0));
  expect(await take(call.callId, digest)).toMatchObject({ kind: 'taken', callId: call.callId });
  now += SILENT_MS;
  await direct.store.reapCalls(reapRequest(0));
  expect(await take(call.callId, digest)).toEqual({ kind: 'none' });
});

it('entries of a gateway that died make room, and those of one that lives do not', async () => {
  const numbers = Array.from({ length: MAX_OWED_PER_SUBJECT }, (_, number) => String(number));
  await Promise.all(numbers.map((number) => hold(request('dead', sha256(number), { lifetimeMs: HOUR_MS }))));
  const asked = request('one', sha256('more'));
  expect(await hold(asked)).toMatchObject({ kind: 'full' });
  now += SILENT_MS;
  expect(await hold(asked)).toEqual({ kind: 'made' });
});
