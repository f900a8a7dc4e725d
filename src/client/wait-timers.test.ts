import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWaitTimers, type WaitTimers, type TimedWait } from './wait-timers.ts';

describe('patience', () => {
  let timers: WaitTimers;
  let over: string[];
  beforeEach(() => {
    vi.useFakeTimers();
    timers = createWaitTimers();
    over = [];
  });
  afterEach(() => {
    timers.close();
    vi.useRealTimers();
  });

  function waits(name: string, waitMs: number): TimedWait {
    const wait: TimedWait = {
      waitsUntil: 0,
      list: undefined,
      before: undefined,
      after: undefined,
      onTimeout: () => over.push(name),
    };
    timers.start(wait, waitMs);
    return wait;
  }

  it('ends each wait at its own time, independent of the other waits', () => {
    waits('a', 100);
    waits('short', 30);
    vi.advanceTimersByTime(50);
    const stopped = waits('stopped', 100);
    waits('b', 100);
    expect(over).toEqual(['short']);
    timers.stop(stopped);
    vi.advanceTimersByTime(50);
    expect(over).toEqual(['short', 'a']);
    vi.advanceTimersByTime(48);
    expect(over).toEqual(['short', 'a']);
    vi.advanceTimersByTime(2);
    expect(over).toEqual(['short', 'a', 'b']);
  });

  it('a line that was empty for a while starts anew', () => {
    timers.stop(waits('first', 100));
    vi.advanceTimersByTime(60);
    const second = waits('second', 100);
    vi.advanceTimersByTime(60);
    expect(over).toEqual([]);
    vi.advanceTimersByTime(40);
    expect(over).toEqual(['second']);
    timers.stop(second);
    waits('third', 100);
    vi.advanceTimersByTime(100);
    expect(over).toEqual(['second', 'third']);
  });

  it('keeps one timer for all who wait equally long, and none when the time of all is up', () => {
    for (let index = 0; index < 100; index += 1) waits('x', 100);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(100);
    expect(over).toHaveLength(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, -1, Number.NaN])('a wait of %d ms is over soon', (waitMs) => {
    waits('x', waitMs);
    vi.advanceTimersByTime(1);
    expect(over).toEqual(['x']);
  });
});
