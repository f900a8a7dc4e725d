import { expect, it } from 'vitest';
import { sha256 } from '../../../src/base/sha256.ts';
import { newToken, randomId } from '../../../src/domain/identity/new-id.ts';
import { HOUR_MS } from '../fixtures.ts';
import { storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

const newUse = (lifetimeMs = HOUR_MS) => ({ digest: sha256(newToken()), attempt: randomId(), lifetimeMs });

export function describeOnce(scene: Scene): void {
  it('the first attempt succeeds, also when it is repeated; others get the answer that it is used', async () => {
    const [store, other] = await scene.openPair();
    const use = newUse();
    expect(await store.useOnce(use)).toBe('first');
    expect(await other.useOnce({ ...use, attempt: randomId() })).toBe('used');
    expect(await other.useOnce(use)).toBe('first');
    expect(await store.useOnce({ ...use, attempt: randomId() })).toBe('used');
  });

  it('exactly one of many concurrent attempts is the first use', async () => {
    const stores = await scene.openMany(4);
    const use = newUse();
    const attempts = Array.from({ length: 40 }, (_, number) =>
      stores[number % 4]!.useOnce({ ...use, attempt: randomId() }),
    );
    expect((await Promise.all(attempts)).filter((answer) => answer === 'first')).toHaveLength(1);
  });

  it('a used name does not affect other names', async () => {
    const store = await scene.open();
    const use = newUse();
    expect(await store.useOnce(use)).toBe('first');
    expect(await store.useOnce({ ...newUse(), attempt: use.attempt })).toBe('first');
  });

  it('a single-use name can be used again when it has expired, and not before, for any later attempts', async () => {
    const store = await scene.open();
    const [short, long] = [newUse(5), newUse()];
    await store.useOnce(short);
    await store.useOnce(long);
    expect(await store.useOnce({ ...long, attempt: randomId(), lifetimeMs: 1 })).toBe('used');
    await store.useOnce({ ...short, attempt: randomId(), lifetimeMs: 6 });
    await storeTimeAfter(store, (await store.now()) + 11);
    expect(await store.useOnce({ ...short, attempt: randomId() })).toBe('first');
    expect(await store.useOnce({ ...long, attempt: randomId() })).toBe('used');
  });

  it('a name without lifetime left cannot be used', async () => {
    const store = await scene.open();
    for (const lifetimeMs of [0, -1, Number.NaN]) expect(await store.useOnce(newUse(lifetimeMs))).toBe('used');
    await expect(store.useOnce(newUse(Number.POSITIVE_INFINITY))).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('an attempt without a name, or for nothing, is refused', async () => {
    const store = await scene.open();
    await expect(store.useOnce({ ...newUse(), attempt: '' })).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(store.useOnce({ ...newUse(), digest: '' })).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(store.useOnce({ ...newUse(), digest: 'x'.repeat(257) })).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('a store whose data was removed accepts no first use again', async ({ skip }) => {
    const store = await scene.open();
    const use = newUse();
    await store.useOnce(use);
    const replaced = scene.replaceData();
    skip(replaced === undefined, 'the data of this store cannot be taken away while it is open');
    await replaced;
    await expect(store.useOnce({ ...use, attempt: randomId() })).rejects.toMatchObject({ code: 'STORE_REPLACED' });
  });
}
