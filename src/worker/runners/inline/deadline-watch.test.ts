import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineWatch, type TimedRun } from './deadline-watch.ts';

describe('DeadlineWatch', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  function stage() {
    const watch = new DeadlineWatch();
    const ended: string[] = [];
    const start = (name: string, timeoutMs: number): TimedRun => {
      const run = { place: -1, endsAt: performance.now() + timeoutMs, timeIsUp: () => void ended.push(name) };
      watch.add(run);
      return run;
    };
    return { watch, ended, start };
  }

  it('ends each run at its own time, for any order of adding', () => {
    const { ended, start } = stage();
    start('long', 300);
    start('short', 100);
    start('middle', 200);
    vi.advanceTimersByTime(99);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(ended).toEqual(['short']);
    vi.advanceTimersByTime(100);
    expect(ended).toEqual(['short', 'middle']);
    vi.advanceTimersByTime(100);
    expect(ended).toEqual(['short', 'middle', 'long']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('forgets a run that has ended, and still ends those after it', () => {
    const { watch, ended, start } = stage();
    watch.delete(start('gone', 100));
    vi.advanceTimersByTime(50);
    start('next', 100);
    vi.advanceTimersByTime(99);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(ended).toEqual(['next']);
  });

  it('has one timer for any number of runs', () => {
    const { start } = stage();
    for (let index = 0; index < 100; index += 1) start(`run ${index}`, 30_000);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('keeps the process while a run is under way and lets it go afterwards', () => {
    vi.useRealTimers();
    const { watch, start } = stage();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const first = start('first', 60_000);
    expect(timers()).toBe(before + 1);
    watch.delete(first);
    expect(timers()).toBe(before);
    watch.delete(start('again', 90_000));
    const again = start('last', 90_000);
    expect(timers()).toBe(before + 1);
    watch.delete(again);
    expect(timers()).toBe(before);
  });

  it('waits longer than a timer can count', () => {
    const { ended, start } = stage();
    start('month', 2 ** 32);
    vi.advanceTimersByTime(2 ** 32 - 1);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(ended).toEqual(['month']);
  });
});
