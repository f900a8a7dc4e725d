import { describe, expect, it } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

describe('BoundedCache', () => {
  it('makes a value once, also one that is false', () => {
    const cache = new BoundedCache<string, boolean>(2);
    let made = 0;
    const make = () => ((made += 1), false);
    expect([cache.getOrMake('a', make), cache.getOrMake('a', make), made]).toEqual([false, false, 1]);
  });

  it('starts over when it is full', () => {
    const cache = new BoundedCache<string, number>(2);
    for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, undefined, 2]);
  });

  it('keeps nothing when making throws', () => {
    const cache = new BoundedCache<string, number>(2);
    const fail = (): number => {
      throw new Error('no');
    };
    expect(() => cache.getOrMake('a', fail)).toThrow('no');
    expect(cache.get('a')).toBeUndefined();
  });
});
