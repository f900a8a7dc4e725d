import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pause } from './pause.ts';

describe('pause', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function hasEnded(pausing: Promise<void>): Promise<boolean> {
    return Promise.race([pausing.then(() => true), Promise.resolve().then(() => false)]);
  }

  it('ends after its time and not before', async () => {
    const pausing = pause(1000);
    await vi.advanceTimersByTimeAsync(999);
    expect(await hasEnded(pausing)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await pausing;
  });

  it('ends when the signal is aborted, without a timer or a listener left', async () => {
    const stop = new AbortController();
    const pausing = pause(1000, stop.signal);
    stop.abort();
    await pausing;
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('leaves no listener when its time is up', async () => {
    const stop = new AbortController();
    const pausing = pause(1000, stop.signal);
    await vi.advanceTimersByTimeAsync(1000);
    await pausing;
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('ends at once if the signal was aborted before', async () => {
    await pause(1000, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
  });
});
