import { describe, expect, it } from 'vitest';
import { CLOSED_POLICY, type PolicyRecord } from '../domain/policy/policy.ts';
import { deferred, type Deferred } from '../../test/support/sample-call.ts';
import { createPolicyCache } from './policy-cache.ts';

const recordOf = (version: number): PolicyRecord => ({ version, policy: CLOSED_POLICY });

const readNewerPolicy = async (): Promise<undefined> => undefined;

/** Reads that the test answers, in the order they were made. */
function heldReads() {
  const reads: Deferred<PolicyRecord>[] = [];
  return {
    reads,
    readNewerPolicy,
    readPolicy() {
      const read = deferred<PolicyRecord>();
      reads.push(read);
      return read.promise;
    },
  };
}

describe('policy cache', () => {
  it('a version written while a read was under way is read again', async () => {
    const store = heldReads();
    const cache = createPolicyCache(store);
    const [older, newer] = [cache.atLeast(5), cache.atLeast(6)];
    store.reads[0]!.resolve(recordOf(5));
    expect((await older).version).toBe(5);
    await Promise.resolve();
    store.reads[1]!.resolve(recordOf(6));
    expect((await newer).version).toBe(6);
    expect(store.reads).toHaveLength(2);
  });

  it('a newer version than the known one is read by the first call that needs it', async () => {
    let version = 1;
    const cache = createPolicyCache({ readPolicy: async () => recordOf(version), readNewerPolicy });
    expect((await cache.atLeast(1)).version).toBe(1);
    version = 2;
    expect((await cache.atLeast(1)).version).toBe(1);
    expect((await cache.atLeast(2)).version).toBe(2);
  });

  it('a record behind its lane means that the store was replaced', async () => {
    const cache = createPolicyCache({ readPolicy: async () => recordOf(3), readNewerPolicy });
    await expect(cache.atLeast(4)).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    expect((await cache.atLeast(3)).version).toBe(3);
  });

  it('those who come together share one read, and a known version needs none', async () => {
    const store = heldReads();
    const cache = createPolicyCache(store);
    const asked = [cache.atLeast(2), cache.atLeast(1), cache.atLeast(2)];
    store.reads[0]!.resolve(recordOf(2));
    const versions = await Promise.all(asked.map(async (each) => (await each).version));
    expect(versions).toEqual([2, 2, 2]);
    await cache.atLeast(2);
    expect(store.reads).toHaveLength(1);
  });

  it('a read that fails is tried again by the next caller', async () => {
    const store = heldReads();
    const cache = createPolicyCache(store);
    const failing = cache.atLeast(1);
    store.reads[0]!.reject(new Error('gone'));
    await expect(failing).rejects.toThrow('gone');
    const next = cache.atLeast(1);
    store.reads[1]!.resolve(recordOf(1));
    expect((await next).version).toBe(1);
  });

  it('a lane that was set back hides a newer policy for a second at most', async () => {
    let [version, now, asked] = [1, 0, 0];
    const store = {
      readPolicy: async () => recordOf(version),
      readNewerPolicy: async ({ after }: { after: number }) => {
        asked += 1;
        return version > after ? recordOf(version) : undefined;
      },
    };
    const cache = createPolicyCache(store, () => now);
    await cache.atLeast(1);
    version = 2;
    now = 999;
    expect(cache.atLeast(1)).toMatchObject({ version: 1 });
    now = 1000;
    expect(await Promise.all([cache.atLeast(1), cache.atLeast(1)])).toMatchObject([{ version: 2 }, { version: 2 }]);
    now = 1999;
    expect(cache.atLeast(1)).toMatchObject({ version: 2 });
    expect(asked).toBe(1);
  });

  it('a policy that cannot be confirmed is not used', async () => {
    let now = 0;
    const away = async (): Promise<never> => Promise.reject(new Error('gone'));
    const cache = createPolicyCache({ readPolicy: async () => recordOf(1), readNewerPolicy: away }, () => now);
    await cache.atLeast(1);
    now = 1000;
    await expect(cache.atLeast(1)).rejects.toThrow('gone');
  });
});
