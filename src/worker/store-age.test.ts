import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStoreAge } from './store-age.ts';

/** Where the store's clock stands when the process's own is at zero. */
const STORE_EPOCH_MS = 1_800_000_000_000;

describe('store age', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const storeNow = (): number => STORE_EPOCH_MS + performance.now();

  it('an answer that came promptly is new', () => {
    const age = createStoreAge();
    for (let round = 0; round < 5; round += 1) {
      expect(age.of(storeNow())).toBe(0);
      vi.advanceTimersByTime(700);
    }
  });

  it('an answer that lay before a stalled loop is as old as it lay', () => {
    const age = createStoreAge();
    age.of(storeNow());
    const said = storeNow();
    vi.advanceTimersByTime(4000);
    expect(age.of(said)).toBe(4000);
    expect(age.of(storeNow())).toBe(0);
  });

  it('an answer read after a long silence is still measured against the prompt ones before it', () => {
    const age = createStoreAge();
    age.of(storeNow());
    vi.advanceTimersByTime(10 * 60_000);
    const said = storeNow();
    vi.advanceTimersByTime(3000);
    expect(age.of(said)).toBe(3000);
  });

  it('a store clock that jumps ahead makes no answer look older than it is', () => {
    const age = createStoreAge();
    age.of(storeNow());
    vi.advanceTimersByTime(100);
    expect(age.of(storeNow() + 3_600_000)).toBe(0);
    const said = storeNow() + 3_600_000;
    vi.advanceTimersByTime(500);
    expect(age.of(said)).toBe(500);
  });

  it('a store clock that jumps back makes answers look old for a while, and is then forgotten', () => {
    const age = createStoreAge();
    age.of(storeNow());
    expect(age.of(storeNow() - 5000)).toBe(5000);
    for (let second = 0; second < 61; second += 1) {
      vi.advanceTimersByTime(1000);
      age.of(storeNow() - 5000);
    }
    expect(age.of(storeNow() - 5000)).toBe(0);
  });
});
