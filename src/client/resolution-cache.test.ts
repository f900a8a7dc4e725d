import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../test/support/sample-call.ts';
import { ResolutionCache, type Build, type Built, type ResolutionCacheSettings } from './resolution-cache.ts';

const PASSES = new Error('the store is away');
const SETTINGS: ResolutionCacheSettings = {
  timeoutMs: 1000,
  failedForMs: 200,
  maxEntries: 100,
  isTransient: (error) => error === PASSES,
};
const cacheOf = <Value = string>(settings: Partial<ResolutionCacheSettings> = {}) =>
  new ResolutionCache<Value>({ ...SETTINGS, ...settings });

const built = <Value>(value: Value, ...modules: string[]): Built<Value> => ({ value, modules });
const resolved = <Value>(value: Value) => ({ kind: 'resolved', value });
const dropped = (reason: string, error: unknown = expect.anything()) => ({ kind: 'dropped', reason, error });
/** A build function that returns or throws these answers one after another. It is a mock, so a test can count its calls. */
const counted = <Value>(...answers: readonly (Value | Error)[]) => {
  const left = [...answers];
  return vi.fn<Build<Value>>(async () => {
    const next = left.shift();
    if (next instanceof Error) throw next;
    return { value: next as Value, modules: ['notes'] };
  });
};

describe('resolution cache', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    const left = vi.getTimerCount();
    vi.useRealTimers();
    if (left > 0) throw new Error(`${left} timers were left behind`);
  });

  it('begins empty and builds a key once', async () => {
    const cache = cacheOf();
    const build = counted('a');
    expect(await cache.resolve('k', build)).toEqual(resolved('a'));
    expect(await cache.resolve('k', build)).toEqual(resolved('a'));
    expect(build).toHaveBeenCalledTimes(1);
    const other = counted('b');
    expect(await cacheOf().resolve('k', other)).toEqual(resolved('b'));
  });

  it('builds a key once for all who ask while it is being built', async () => {
    const cache = cacheOf();
    const build = counted('a', 'b');
    const answers = await Promise.all([1, 2, 3].map(() => cache.resolve('k', build)));
    expect(answers).toEqual([resolved('a'), resolved('a'), resolved('a')]);
    expect(build).toHaveBeenCalledTimes(1);
  });

  it('freezes values all the way down', async () => {
    const cache = cacheOf<{ tools: { name: string }[] }>();
    const value = { tools: [{ name: 'a' }] };
    await cache.resolve('k', () => built(value));
    expect(() => value.tools.push({ name: 'b' })).toThrow(TypeError);
    expect(() => (value.tools[0]!.name = 'b')).toThrow(TypeError);
  });

  it('an invalidation while a value is built: only callers that asked before it get the value', async () => {
    const cache = cacheOf();
    const first = deferred<Built<string>>();
    const before = cache.resolve('k', () => first.promise);
    cache.invalidate('notes');
    const build = counted('new');
    const after = cache.resolve('k', build);
    first.resolve(built('old', 'notes'));
    expect(await before).toEqual(resolved('old'));
    expect(await after).toEqual(resolved('new'));
    expect(await cache.resolve('k', build)).toEqual(resolved('new'));
    expect(build).toHaveBeenCalledTimes(1);
  });

  it('an invalidation forgets what was made from that module, and only that', async () => {
    const cache = cacheOf();
    await cache.resolve('notes', () => built('a', 'notes', 'files'));
    await cache.resolve('other', () => built('a', 'web'));
    await cache.resolve('everything', () => ({ value: 'a', modules: 'all' }));
    cache.invalidate('files');
    const ask = (key: string) => cache.resolve(key, () => built('b'));
    expect(await Promise.all(['notes', 'other', 'everything'].map(ask))).toEqual(['b', 'a', 'b'].map(resolved));
  });

  it('an empty id forgets nothing, neither values nor failures nor builds under way', async () => {
    const cache = cacheOf();
    const under = deferred<Built<string>>();
    await cache.resolve('value', () => ({ value: 'a', modules: 'all' }));
    await cache.resolve('failure', counted<string>(new Error('gone')));
    const building = cache.resolve('build', () => under.promise);
    cache.invalidate('');
    under.resolve(built('a'));
    await building;
    const build = counted('b', 'b', 'b');
    expect(await cache.resolve('value', build)).toEqual(resolved('a'));
    expect(await cache.resolve('failure', build)).toMatchObject({ reason: 'failed-before' });
    expect(await cache.resolve('build', build)).toEqual(resolved('a'));
    expect(build).not.toHaveBeenCalled();
  });

  it('forgets everything on the one call that says so, and when the version is another', async () => {
    const cache = cacheOf();
    const build = counted('a', 'b', 'c');
    cache.useVersion('1');
    await cache.resolve('k', build);
    cache.useVersion('1');
    expect(await cache.resolve('k', build)).toEqual(resolved('a'));
    cache.useVersion('2');
    expect(await cache.resolve('k', build)).toEqual(resolved('b'));
    cache.invalidateAll();
    expect(await cache.resolve('k', build)).toEqual(resolved('c'));
  });

  it('remembers a failure for a short time, and says which it is', async () => {
    const cache = cacheOf();
    const gone = new Error('gone');
    const build = counted<string>(gone, 'a');
    expect(await cache.resolve('k', build)).toEqual(dropped('failed', gone));
    expect(await cache.resolve('k', build)).toEqual(dropped('failed-before', gone));
    await vi.advanceTimersByTimeAsync(199);
    expect(await cache.resolve('k', build)).toEqual(dropped('failed-before', gone));
    await vi.advanceTimersByTimeAsync(1);
    expect(await cache.resolve('k', build)).toEqual(resolved('a'));
  });

  it('an invalidation forgets failures, and a failure that it overtook is not remembered', async () => {
    const cache = cacheOf();
    await cache.resolve('k', counted<string>(new Error('gone')));
    cache.invalidate('any');
    const failing = deferred<Built<string>>();
    const before = cache.resolve('k', () => failing.promise);
    cache.invalidate('any');
    failing.reject(new Error('gone'));
    expect(await before).toMatchObject({ reason: 'failed' });
    expect(await cache.resolve('k', counted('a'))).toEqual(resolved('a'));
  });

  it('does not remember a failure that passes', async () => {
    const cache = cacheOf();
    const build = counted<string>(PASSES, 'a');
    expect(await cache.resolve('k', build)).toEqual(dropped('store-trouble', PASSES));
    expect(await cache.resolve('k', build)).toEqual(resolved('a'));
  });

  it('a build that throws before it waits is a failure like any other', async () => {
    const answer = await cacheOf().resolve('k', () => {
      throw PASSES;
    });
    expect(answer).toEqual(dropped('store-trouble', PASSES));
  });

  it('gives a build up after its time, aborts it, and keeps nothing of it', async () => {
    const cache = cacheOf();
    const slow = deferred<Built<string>>();
    let signal: AbortSignal | undefined;
    const asking = cache.resolve('k', (given) => {
      signal = given;
      return slow.promise;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asking).toEqual(dropped('timed-out'));
    expect(signal?.aborted).toBe(true);
    slow.resolve(built('late'));
    await vi.advanceTimersByTimeAsync(0);
    expect(await cache.resolve('k', counted('a'))).toEqual(resolved('a'));
  });

  it('keeps nothing that a build answers to its abort', async () => {
    const cache = cacheOf();
    const half: Build<string> = (signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(built('half'))));
    const asking = cache.resolve('k', half);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asking).toEqual(dropped('timed-out'));
    expect(await cache.resolve('k', counted('a'))).toEqual(resolved('a'));
  });

  it('a caller that leaves does not affect the others, and the build is aborted when the last one has left', async () => {
    const cache = cacheOf();
    const slow = deferred<Built<string>>();
    let signal: AbortSignal | undefined;
    const build: Build<string> = (given) => {
      signal = given;
      return slow.promise;
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const leader = cache.resolve('k', build, first.signal);
    const follower = cache.resolve('k', build, second.signal);
    first.abort('changed my mind');
    expect(await leader).toEqual(dropped('cancelled', 'changed my mind'));
    expect(signal!.aborted).toBe(false);
    second.abort();
    expect(await follower).toMatchObject({ reason: 'cancelled' });
    expect(signal!.aborted).toBe(true);
    expect(await cache.resolve('k', counted('a'))).toEqual(resolved('a'));
    await vi.advanceTimersByTimeAsync(0);
  });

  it('a build that one waits for without a signal is never aborted by others', async () => {
    const cache = cacheOf();
    const slow = deferred<Built<string>>();
    const controller = new AbortController();
    const leader = cache.resolve('k', () => slow.promise, controller.signal);
    const follower = cache.resolve('k', () => slow.promise);
    controller.abort();
    slow.resolve(built('a'));
    expect(await leader).toMatchObject({ reason: 'cancelled' });
    expect(await follower).toEqual(resolved('a'));
  });

  it('who comes with a signal that is aborted starts nothing', async () => {
    const build = counted('a');
    expect(await cacheOf().resolve('k', build, AbortSignal.abort('no'))).toEqual(dropped('cancelled', 'no'));
    expect(build).not.toHaveBeenCalled();
  });

  it('a closed cache ends what is under way and starts nothing', async () => {
    const cache = cacheOf();
    const asking = cache.resolve('k', () => deferred<Built<string>>().promise);
    cache.close();
    expect(await asking).toEqual(dropped('closed'));
    expect(await cache.resolve('k', counted('a'))).toEqual(dropped('closed'));
  });

  it('keeps so many entries and no more, and lets the oldest go', async () => {
    const cache = cacheOf({ maxEntries: 2 });
    for (const key of ['a', 'b', 'c']) await cache.resolve(key, () => built(key));
    const build = counted('again');
    expect(await cache.resolve('c', build)).toEqual(resolved('c'));
    expect(await cache.resolve('b', build)).toEqual(resolved('b'));
    expect(await cache.resolve('a', build)).toEqual(resolved('again'));
  });
});

type Step =
  | { readonly kind: 'ask'; readonly key: string; readonly leaves: boolean }
  | { readonly kind: 'change'; readonly module: string };
const MODULES = ['m', 'n'] as const;
/** The modules from which the value of each key is built. */
const MADE_FROM: Readonly<Record<string, readonly string[]>> = { m: ['m'], n: ['n'], both: ['m', 'n'] };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), key: fc.constantFrom('m', 'n', 'both'), leaves: fc.boolean() }),
  fc.record({ kind: fc.constant('change' as const), module: fc.constantFrom(...MODULES) }),
);

describe('resolution cache, with any sequence of operations', () => {
  it('never gives a value that was outdated at the request, builds once at a time, and answers every caller', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 25 }), async (scheduler, steps) => {
        const cache = cacheOf<Record<string, number>>({ timeoutMs: 60_000 });
        const world: Record<string, number> = { m: 0, n: 0 };
        let changes = 0;
        const underWay = new Map<string, number>();
        const stateOf = (key: string) => Object.fromEntries(MADE_FROM[key]!.map((module) => [module, world[module]!]));

        const build =
          (key: string): Build<Record<string, number>> =>
          async (signal) => {
            const place = `${key} since ${changes}`;
            expect(underWay.get(place) ?? 0).toBe(0);
            underWay.set(place, 1);
            signal.addEventListener('abort', () => underWay.set(place, 0));
            const value = stateOf(key);
            await scheduler.schedule(Promise.resolve(), `build ${key}`);
            underWay.set(place, 0);
            return { value, modules: MADE_FROM[key]! };
          };

        const asked: Promise<void>[] = [];
        const ask = async (key: string, leaves: boolean): Promise<void> => {
          const atLeast = stateOf(key);
          const controller = new AbortController();
          if (leaves) void scheduler.schedule(Promise.resolve(), 'leave').then(() => controller.abort());
          const answer = await cache.resolve(key, build(key), leaves ? controller.signal : undefined);
          // A caller that has left may get no value. Any other caller gets a value that is at least as new as its request.
          const isRight =
            answer.kind === 'dropped'
              ? leaves && answer.reason === 'cancelled'
              : Object.isFrozen(answer.value) &&
                MADE_FROM[key]!.every((module) => answer.value[module]! >= atLeast[module]!);
          expect({ key, answer, atLeast, isRight }).toMatchObject({ isRight: true });
        };

        for (const each of steps) {
          void scheduler.schedule(Promise.resolve(), each.kind).then(() => {
            if (each.kind === 'ask') return void asked.push(ask(each.key, each.leaves));
            world[each.module]! += 1;
            changes += 1;
            cache.invalidate(each.module);
          });
        }
        await scheduler.waitAll();
        await Promise.all(asked);
        // In the end, the cache returns the current state of the world for each key.
        for (const key of Object.keys(MADE_FROM)) {
          const last = cache.resolve(key, build(key));
          await scheduler.waitAll();
          expect(await last).toEqual(resolved(stateOf(key)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
