import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

describe('RateLimit', () => {
  it('gives a burst, then so many per second, and says how long to wait', () => {
    let now = 0;
    const limit = new RateLimit({ perSecond: 2, burst: 3 }, () => now);
    expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 0]);
    expect(limit.take('a')).toBe(500);
    now = 250;
    expect(limit.waitMs('a')).toBe(250);
    now = 500;
    expect(limit.waitMs('a')).toBe(0);
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 500]);
  });

  it('counts each key for itself', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1 }, () => 0);
    expect([limit.take('a'), limit.take('b'), limit.take('a')]).toEqual([0, 0, 1000]);
  });

  it('never gives more than the burst, however long the pause was', () => {
    let now = 0;
    const limit = new RateLimit({ perSecond: 10, burst: 2 }, () => now);
    limit.take('a');
    now = 1_000_000;
    expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 100]);
  });

  it('takes one back, and never holds more than the burst', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1 }, () => 0);
    limit.take('a');
    limit.giveBack('a');
    limit.giveBack('a');
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 1000]);
  });

  it('remembers a bounded number of keys, the last ones', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1 }, () => 0);
    for (let key = 0; key <= 10_000; key += 1) limit.take(String(key));
    expect(limit.waitMs('0')).toBe(0);
    expect(limit.waitMs('10000')).toBe(1000);
  });
});
