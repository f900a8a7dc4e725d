import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { planeError } from '../../src/domain/errors/errors.ts';
import { createOwedCalls, type OwedCalls } from '../../src/gateway/mcp/owed-calls.ts';
import { MAX_UNFINISHED } from '../../src/gateway/mcp/unfinished-work.ts';
import { openEmbeddedStore, type EmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import type { HoldOwedRequest, OwedStore, ReleaseOwedRequest } from '../../src/domain/ports/owed-store.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { callIdFor, newSessionId, randomId } from '../../src/domain/identity/new-id.ts';
import { storeTimeAfter } from '../contract/observe.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';

let folder: TemporaryFolder;
let store: EmbeddedStore;
beforeEach(async () => {
  folder = temporaryFolder('sallyport-owed');
  store = await openEmbeddedStore({ folder: folder.path, mode: 'own' });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  folder.remove();
});

/** Stops the timer after which a request no longer waits for an identical one, so that a slow machine does not change the result. */
const stopTimers = (): unknown => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

const LOG = { warn: () => undefined };
const session = { id: newSessionId('acme', 'ida', 1) };
const options = (more: object = {}) => ({
  lifetimeMs: 60_000,
  cameAt: performance.now(),
  signal: new AbortController().signal,
  ...more,
});

async function hold(gateway: OwedCalls, digest: string, more: object = {}) {
  const holding = await gateway.hold(session, digest, options(more));
  if (holding.kind !== 'held') throw new Error(`Expected to hold a call, it was ${holding.kind}`);
  return holding.held;
}

it('a gateway that stops hands over what it holds, and others need not wait for it to be dead', async () => {
  const [one, two, digest] = [createOwedCalls(store, LOG), createOwedCalls(store, LOG), sha256(randomId())];
  const calls = [await hold(one, digest), await hold(one, digest)];
  await one.handOver();
  const aborted = { signal: AbortSignal.abort() };
  const taken = [await hold(two, digest, aborted), await hold(two, digest, aborted)];
  expect(taken.map(({ key }) => key).toSorted()).toEqual(calls.map(({ key }) => key).toSorted());
  await two.handOver();
});

it('a repeat at the same gateway finds the call that was let go of a moment ago', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  const released = first.lose();
  expect((await hold(gateway, digest)).earlier).toMatchObject({ callId: first.callId });
  await released;
  await gateway.handOver();
});

it('a repeat at the same gateway waits for the gateway to notice that the first connection is gone', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  const repeat = hold(gateway, digest);
  await new Promise((resolve) => setImmediate(resolve));
  await first.lose();
  expect((await repeat).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('of two identical requests that come in the same step, the second waits for the first to be lost', async () => {
  stopTimers();
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const [coming, repeat] = [hold(gateway, digest), hold(gateway, digest)];
  const first = await coming;
  await first.lose();
  expect((await repeat).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('of two requests that wait for the same one, the second waits for the first when that one has its answer', async () => {
  stopTimers();
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const open = await hold(gateway, digest);
  const [coming, repeat] = [hold(gateway, digest), hold(gateway, digest)];
  await open.leave();
  const next = await coming;
  await next.lose();
  expect([next.earlier, (await repeat).earlier]).toMatchObject([undefined, { callId: next.callId }]);
  await gateway.handOver();
});

/** A request states how long ago it came, without its way to the store. This is longer than that way takes on a busy machine. */
const TRIP_MS = 1000;

it('a client that is asked to come back is owed its call, and a request that was open before is not', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  const parallel = hold(gateway, digest);
  await storeTimeAfter(store, (await store.now()) + TRIP_MS);
  await first.owe();
  expect((await parallel).earlier).toBeUndefined();
  expect((await hold(gateway, digest)).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('a client that is asked to come back while another one waits at another gateway is owed only its own call', async () => {
  const [one, two, digest] = [createOwedCalls(store, LOG), createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(one, digest);
  let asked = 0;
  const parallel = hold(two, digest, { isLost: () => ((asked += 1), false) });
  await vi.waitUntil(() => asked > 1, { timeout: 60_000 });
  await storeTimeAfter(store, (await store.now()) + TRIP_MS);
  await first.owe();
  expect((await parallel).earlier).toBeUndefined();
  expect((await hold(one, digest)).earlier).toMatchObject({ callId: first.callId });
  await Promise.all([one.handOver(), two.handOver()]);
});

it('a request that waits takes the call of one that was asked to come back when that answer is lost', async () => {
  stopTimers();
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  const repeat = hold(gateway, digest);
  await first.owe();
  await first.lose();
  expect((await repeat).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('a request whose connection is gone before it holds an entry makes no call', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const lost = () => gateway.hold(session, digest, options({ isLost: () => true }));
  expect(await lost()).toEqual({ kind: 'aborted' });
  const repeat = await hold(gateway, digest);
  const late = lost();
  await repeat.leave();
  expect(await late).toEqual({ kind: 'aborted' });
  expect((await hold(gateway, digest)).earlier).toBeUndefined();
  await gateway.handOver();
});

it('of requests that wait for identical ones, one takes the call that is owed and the others are calls of their own', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  await hold(gateway, digest);
  const repeats = [hold(gateway, digest), hold(gateway, digest), hold(gateway, digest)];
  await first.lose();
  const taken = (await Promise.all(repeats)).map(({ earlier }) => earlier?.callId);
  expect(taken).toEqual([first.callId, undefined, undefined]);
  await gateway.handOver();
});

it('a client that has gone does not wait for another gateway', async () => {
  const [one, two, digest] = [createOwedCalls(store, LOG), createOwedCalls(store, LOG), sha256(randomId())];
  await hold(one, digest);
  expect(await two.hold(session, digest, options({ signal: AbortSignal.abort() }))).toEqual({ kind: 'aborted' });
  await one.handOver();
});

it('a request that lost its connection while it waited for another gateway takes nothing', async () => {
  const [gateway, digest] = [createOwedCalls(store, LOG), sha256(randomId())];
  const dead = {
    callId: callIdFor(session.id, randomId())!,
    digest,
    holder: 'dead',
    lifetimeMs: 60_000,
    leaseMs: 3000,
  };
  await store.holdOwed(dead);
  let looks = 0;
  const lost = gateway.hold(session, digest, options({ isLost: () => (looks += 1) > 1 }));
  expect(await lost).toEqual({ kind: 'aborted' });
  expect(looks).toBe(2);
});

/** The real store, but the answer to `holdOwed` is lost while `isAway`. */
function losingAnswers(): OwedStore & { isAway: boolean } {
  const lossy = {
    isAway: false,
    beatOwed: (request: Parameters<OwedStore['beatOwed']>[0]) => store.beatOwed(request),
    releaseOwed: (request: ReleaseOwedRequest) => store.releaseOwed(request),
    async holdOwed(request: HoldOwedRequest) {
      const answer = await store.holdOwed(request);
      if (lossy.isAway) throw new Error('the answer is lost');
      return answer;
    },
  };
  return lossy;
}

it('a call that was taken in a request whose answer was lost is owed to the next one', async () => {
  const [lossy, digest] = [losingAnswers(), sha256(randomId())];
  const [one, gateway] = [createOwedCalls(store, LOG), createOwedCalls(lossy, LOG)];
  const first = await hold(one, digest);
  await first.lose();
  lossy.isAway = true;
  await expect(hold(gateway, digest)).rejects.toThrow('the answer is lost');
  await expect(hold(gateway, digest)).rejects.toThrow('the answer is lost');
  lossy.isAway = false;
  expect((await hold(gateway, digest)).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('an entry that was made in a request whose answer was lost is removed', async () => {
  const [lossy, digest] = [losingAnswers(), sha256(randomId())];
  const [gateway, other] = [createOwedCalls(lossy, LOG), createOwedCalls(store, LOG)];
  lossy.isAway = true;
  await expect(hold(gateway, digest)).rejects.toThrow('the answer is lost');
  lossy.isAway = false;
  await (await hold(gateway, digest)).leave();
  expect((await hold(other, digest, { signal: AbortSignal.abort() })).earlier).toBeUndefined();
  await other.handOver();
});

it('a repeat at the same gateway first sends the release that the store did not take', async () => {
  let isAway = true;
  const unsteady: OwedStore = {
    holdOwed: (request) => store.holdOwed(request),
    beatOwed: (request) => store.beatOwed(request),
    releaseOwed: async (request) => {
      if (isAway) throw new Error('the store is away');
      // The release reaches the store late, so that the repeat arrives before it.
      await storeTimeAfter(store, (await store.now()) + TRIP_MS);
      return store.releaseOwed(request);
    },
  };
  const [gateway, digest] = [createOwedCalls(unsteady, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  await first.owe();
  await expect(hold(gateway, digest)).rejects.toThrow('the store is away');
  isAway = false;
  expect((await hold(gateway, digest)).earlier).toMatchObject({ callId: first.callId });
  await gateway.handOver();
});

it('a release that the store does not take is sent again with the next beat', async () => {
  let isAway = true;
  const unsteady: OwedStore = {
    holdOwed: (request) => store.holdOwed(request),
    beatOwed: (request) => store.beatOwed(request),
    releaseOwed: async (request) => {
      if (isAway) throw new Error('the store is away');
      released();
      return store.releaseOwed(request);
    },
  };
  let released!: () => void;
  const again = new Promise<void>((resolve) => (released = resolve));
  const [gateway, digest] = [createOwedCalls(unsteady, LOG), sha256(randomId())];
  const first = await hold(gateway, digest);
  await first.owe();
  isAway = false;
  await again;
  expect((await hold(createOwedCalls(store, LOG), digest)).key).toBe(first.key);
});

/** The real store, with some methods replaced by ones that fail. */
const failing = (parts: Partial<OwedStore>): OwedStore => ({
  holdOwed: (request) => store.holdOwed(request),
  beatOwed: (request) => store.beatOwed(request),
  releaseOwed: (request) => store.releaseOwed(request),
  ...parts,
});

it('a request that the store refused holds nothing, and nothing about it is asked again', async () => {
  const [asked, digest] = [[] as HoldOwedRequest[], sha256(randomId())];
  let isForbidden = true;
  const guarded = failing({
    async holdOwed(request) {
      asked.push(request);
      if (isForbidden) throw planeError('STORE_FORBIDDEN', { problem: 'NOPERM' });
      return store.holdOwed(request);
    },
  });
  const gateway = createOwedCalls(guarded, LOG);
  await expect(hold(gateway, digest)).rejects.toMatchObject({ code: 'STORE_FORBIDDEN' });
  isForbidden = false;
  await (await hold(gateway, digest)).leave();
  expect(asked.map(({ of }) => of)).toEqual([undefined, undefined]);
});

it('a release that the store will never take is given up, and reported', async () => {
  const lines: string[] = [];
  const replaced = failing({
    releaseOwed: async () => Promise.reject(planeError('STORE_REPLACED', { expected: 'a', found: 'b' })),
  });
  const [gateway, digest] = [
    createOwedCalls(replaced, { warn: (_, message) => void lines.push(message) }),
    sha256(randomId()),
  ];
  await (await hold(gateway, digest)).owe();
  expect((await hold(gateway, digest, { fresh: true })).earlier).toBeUndefined();
  await gateway.handOver();
  expect(lines).toEqual(['owed calls could not be released']);
});

it('a store that is away is asked for no more than it can be asked again, with one line for each beat', async () => {
  const warned: { readonly count: number }[] = [];
  let [retries, reported] = [0, (): void => undefined];
  const beaten = new Promise<void>((resolve) => (reported = resolve));
  let first: HoldOwedRequest | undefined;
  const away = failing({
    async holdOwed(request) {
      first ??= request;
      if (request.of === first.callId) retries += 1;
      throw planeError('STORE_UNAVAILABLE', { problem: 'it is away' });
    },
  });
  const warn = (facts: object): void => {
    warned.push(facts as { count: number });
    if (warned.length === 2) reported();
  };
  const gateway = createOwedCalls(away, { warn });
  for (let at = 0; at < MAX_UNFINISHED; at += 1) {
    await expect(hold(gateway, sha256(String(at)))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }
  expect(await gateway.hold(session, sha256('more'), options())).toEqual({ kind: 'full', of: 'store' });
  await beaten;
  expect(warned.length).toBeLessThanOrEqual(retries);
  expect(Math.max(...warned.map(({ count }) => count))).toBeGreaterThan(1);
  await gateway.handOver();
});
