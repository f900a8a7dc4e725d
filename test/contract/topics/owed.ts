import { expect, it } from 'vitest';
import { laneOfScopedId, type CallId } from '../../../src/domain/identity/ids.ts';
import {
  MAX_OWED_PER_SUBJECT,
  type HoldOwedAnswer,
  type HoldOwedRequest,
} from '../../../src/domain/ports/owed-store.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { callIdFor, newSessionId, randomId } from '../../../src/domain/identity/new-id.ts';
import { HOUR_MS, reapRequest } from '../fixtures.ts';
import { storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const LEASE_MS = 40;

/** A gateway process that holds calls of one subject. */
function gateway(store: Store, subject: string) {
  const holder = randomId();
  const session = newSessionId('acme', subject, store.lanes);
  const newId = (): CallId => callIdFor(session, randomId())!;
  const request = (digest: string, more: Partial<HoldOwedRequest> = {}): HoldOwedRequest => ({
    callId: newId(),
    digest,
    holder,
    lifetimeMs: HOUR_MS,
    leaseMs: LEASE_MS,
    ...more,
  });
  const release = (
    { callId, ...held }: HoldOwedRequest,
    to: 'gone' | 'owed' | 'lost',
    more: { readonly owedAfterMs?: number; readonly lifetimeMs?: number } = {},
  ) =>
    store.releaseOwed(
      to === 'gone'
        ? { callId, attempt: callId, to }
        : { callId, attempt: callId, to, lifetimeMs: held.lifetimeMs, ...more },
    );
  return {
    newId,
    request,
    release,
    beat: () => store.beatOwed({ lane: laneOfScopedId(session), holder }),
    /** Holds a call; expects a new entry. */
    async make(digest: string, more: Partial<HoldOwedRequest> = {}): Promise<HoldOwedRequest> {
      const made = request(digest, more);
      expect(await store.holdOwed(made)).toEqual({ kind: 'made' });
      return made;
    },
  };
}

const newDigest = (): string => sha256(randomId());
const takenOf = ({ callId }: HoldOwedRequest): HoldOwedAnswer => ({
  kind: 'taken',
  callId,
  madeAt: expect.any(Number),
});
const sinceOf = (answer: HoldOwedAnswer): number => {
  if (answer.kind !== 'wait') throw new Error(`Expected to wait, it was ${JSON.stringify(answer)}`);
  return answer.since;
};

export function describeOwed(scene: Scene): void {
  it('a repeat takes an owed call, once', async () => {
    const [store, other] = await scene.openPair();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(other, 'ida'), newDigest()];
    const call = await one.make(digest);
    expect(await one.release(call, 'owed')).toBe('released');
    const repeat = two.request(digest);
    expect(await other.holdOwed(repeat)).toEqual(takenOf(call));
    expect(await other.holdOwed(repeat)).toEqual(takenOf(call));
    expect(await other.holdOwed(two.request(digest))).toEqual({ kind: 'made' });
  });

  it('two owed calls answer two repeats, the older one first, and a third is a call of its own', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const first = await one.make(digest);
    await storeTimeAfter(store, await store.now());
    const second = await one.make(digest);
    await one.release(second, 'owed');
    await one.release(first, 'owed');
    expect(await store.holdOwed(two.request(digest))).toEqual(takenOf(first));
    expect(await store.holdOwed(two.request(digest))).toEqual(takenOf(second));
    expect(await store.holdOwed(two.request(digest))).toEqual({ kind: 'made' });
  });

  it('a request that came before the client was asked to come back takes the call only if that answer was lost', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    await one.release(call, 'owed');
    await storeTimeAfter(store, (await store.now()) + 5);
    const before = two.request(digest, { waitedMs: 60_000 });
    expect(await store.holdOwed(before)).toEqual({ kind: 'made' });
    await two.release(before, 'gone');
    await one.release(call, 'lost');
    expect(await store.holdOwed(two.request(digest, { waitedMs: 60_000 }))).toEqual(takenOf(call));
  });

  it('each of many concurrent repeats takes another call', async () => {
    const stores = await scene.openMany(3);
    const [one, digest] = [gateway(stores[0]!, 'ida'), newDigest()];
    const calls = await Promise.all(Array.from({ length: 6 }, () => one.make(digest)));
    await Promise.all(calls.map((call) => one.release(call, 'owed')));
    const repeats = Array.from({ length: 6 }, (_, number) => {
      const store = stores[number % 3]!;
      return store.holdOwed(gateway(store, 'ida').request(digest));
    });
    const ids = (await Promise.all(repeats)).map((answer) => (answer.kind === 'taken' ? answer.callId : answer.kind));
    expect(ids.toSorted()).toEqual(calls.map(({ callId }) => callId).toSorted());
  });

  it('an entry whose outcome was written is gone', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    expect(await one.release(call, 'gone')).toBe('released');
    expect(await one.release(call, 'gone')).toBe('gone');
    expect(await store.holdOwed(gateway(store, 'ida').request(digest))).toEqual({ kind: 'made' });
  });

  it('an open request of the same gateway is not owed', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    await one.make(digest);
    expect(await store.holdOwed(one.request(digest))).toEqual({ kind: 'made' });
  });

  it('an open request of another gateway that beats is not owed', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    await one.make(digest);
    const asked = two.request(digest);
    const since = sinceOf(await store.holdOwed(asked));
    await storeTimeAfter(store, since + 300);
    await one.beat();
    expect(await store.holdOwed({ ...asked, waitingSince: since })).toEqual({ kind: 'made' });
  });

  it('an open request of a gateway that does not beat for a lease is owed, and not before', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const [first, second] = [await one.make(digest), await one.make(digest)];
    const asked = two.request(digest, { leaseMs: 1_500 });
    const since = sinceOf(await store.holdOwed(asked));
    expect(sinceOf(await store.holdOwed({ ...asked, waitingSince: since }))).toBe(since);
    await storeTimeAfter(store, since + 1_500);
    const taken = await store.holdOwed({ ...asked, waitingSince: since });
    const more = await store.holdOwed(two.request(digest, { leaseMs: 1_500, waitingSince: since }));
    const ids = [taken, more].map((answer) => (answer.kind === 'taken' ? answer.callId : answer.kind));
    expect(ids.toSorted()).toEqual([first.callId, second.callId].toSorted());
  });

  it('a holder that lost its entry to another cannot release it', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    await one.release(call, 'owed');
    const repeat = two.request(digest);
    await store.holdOwed(repeat);
    expect(await one.release(call, 'gone')).toBe('gone');
    expect(
      await store.releaseOwed({ callId: call.callId, attempt: repeat.callId, to: 'owed', lifetimeMs: HOUR_MS }),
    ).toBe('released');
    expect(await store.holdOwed(one.request(digest))).toEqual(takenOf(call));
  });

  it('a fresh call takes nothing', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    await one.release(await one.make(digest), 'owed');
    expect(await store.holdOwed(one.request(digest, { fresh: true }))).toEqual({ kind: 'made' });
  });

  it('another subject, and another digest, take nothing', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    await one.release(await one.make(digest), 'owed');
    expect(await store.holdOwed(gateway(store, 'max').request(digest))).toEqual({ kind: 'made' });
    expect(await store.holdOwed(one.request(newDigest()))).toEqual({ kind: 'made' });
  });

  it('a call that its client names is taken from any holder, and only by its own subject', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    const named = two.request(digest, { of: `${call.callId}~2` as CallId });
    expect(await store.holdOwed(named)).toEqual(takenOf(call));
    expect(await one.release(call, 'gone')).toBe('gone');
    expect(await store.holdOwed(two.request(digest, { of: two.newId() }))).toEqual({ kind: 'none' });
    const stranger = gateway(store, 'max').request(digest, { of: call.callId });
    expect(await store.holdOwed(stranger)).toEqual({ kind: 'none' });
  });

  it('a call that is named with another digest stays owed, and stays held', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    const other = two.request(newDigest(), { of: call.callId });
    expect(await store.holdOwed(other)).toEqual({ kind: 'none' });
    expect(await one.release(call, 'owed')).toBe('released');
    expect(await store.holdOwed(other)).toEqual({ kind: 'none' });
    expect(await store.holdOwed(two.request(digest))).toEqual(takenOf(call));
  });

  it('an entry is owed from the time that its release says', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    await one.release(call, 'owed', { owedAfterMs: 50 });
    const now = await store.now();
    expect(await store.holdOwed(one.request(digest, { fresh: true }))).toEqual({ kind: 'made' });
    await storeTimeAfter(store, now + 60);
    expect(await store.holdOwed(one.request(digest))).toEqual(takenOf(call));
  });

  it('an entry goes when its time is up, and a release can make it stay longer', async () => {
    const store = await scene.open();
    const [one, short, long] = [gateway(store, 'ida'), newDigest(), newDigest()];
    await one.release(await one.make(short, { lifetimeMs: 20 }), 'owed');
    const kept = await one.make(long, { lifetimeMs: 20 });
    await one.release(kept, 'owed', { lifetimeMs: HOUR_MS });
    await storeTimeAfter(store, (await store.now()) + 30);
    expect(await store.holdOwed(one.request(short))).toEqual({ kind: 'made' });
    expect(await store.holdOwed(one.request(long))).toEqual(takenOf(kept));
  });

  it('an entry that a living gateway holds does not expire', async () => {
    const store = await scene.open();
    const [one, two, digest] = [gateway(store, 'ida'), gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest, { lifetimeMs: 20 });
    await storeTimeAfter(store, (await store.now()) + 30);
    await one.make(newDigest());
    await store.reapCalls(reapRequest(laneOfScopedId(call.callId)));
    const asked = two.request(digest, { of: call.callId });
    expect(await store.holdOwed(asked)).toEqual(takenOf(call));
    expect(await one.release(call, 'gone')).toBe('gone');
  });

  it('the entries of a subject are bounded: one that is owed makes room, one that is held does not', async () => {
    const store = await scene.open();
    const [one, first] = [gateway(store, 'ida'), newDigest()];
    await one.release(await one.make(first, { lifetimeMs: HOUR_MS / 2 }), 'owed');
    const others = Array.from({ length: MAX_OWED_PER_SUBJECT - 1 }, () => one.request(newDigest()));
    for (const answer of await Promise.all(others.map((request) => store.holdOwed(request))))
      expect(answer).toEqual({ kind: 'made' });
    await one.make(newDigest());
    expect(await store.holdOwed(one.request(first))).toEqual({ kind: 'full', of: 'subject' });
    await gateway(store, 'max').make(first);
    await one.release(others[0]!, 'owed');
    await one.make(first);
  });

  it('a malformed request is refused and leaves nothing', async () => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    const bad: Partial<HoldOwedRequest>[] = [
      { digest: '' },
      { digest: 'x y' },
      { holder: '' },
      { holder: 'a b' },
      { lifetimeMs: Number.NaN },
      { leaseMs: -1 },
      { callId: 'none' as CallId },
    ];
    for (const more of bad)
      await expect(store.holdOwed(one.request(digest, more))).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(store.beatOwed({ lane: 99, holder: 'x' })).rejects.toMatchObject({ code: 'INTERNAL' });
    await one.make(digest);
  });

  it('a store whose data was taken away hands out nothing', async ({ skip }) => {
    const store = await scene.open();
    const [one, digest] = [gateway(store, 'ida'), newDigest()];
    const call = await one.make(digest);
    const replaced = scene.replaceData();
    skip(replaced === undefined, 'the data of this store cannot be taken away while it is open');
    await replaced;
    await expect(store.holdOwed(one.request(digest))).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    await expect(one.release(call, 'owed')).rejects.toMatchObject({ code: 'STORE_REPLACED' });
  });
}
